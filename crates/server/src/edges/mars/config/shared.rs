//! What a run has once for each kind of request, and its phases say each for themselves: how long it waits, what an
//! expiry decides, which options are on offer. Where one phase's word would change another phase's requests, the
//! config is refused.

use holdshort_core::definition::{Definition, KindGate, PhaseKind};
use holdshort_core::interrupt::{self, Kind as Interrupt};
use holdshort_core::schema::Problem;

use super::mode::Kind;
use super::phases::{Made, Said};

/// Half an hour for a step or a call, an hour for a plan or a checkpoint.
const HALF_AN_HOUR_MS: u64 = 30 * 60 * 1_000;
const AN_HOUR_MS: u64 = 2 * HALF_AN_HOUR_MS;

pub(super) fn set(definition: &mut Definition, made: &[Made], problems: &mut Vec<Problem>) {
    let kinds = &mut definition.gates.kinds;
    for kind in [Interrupt::PlanApproval, Interrupt::Checkpoint, Interrupt::Error] {
        let asking: Vec<&Made> = made.iter().filter(|each| asks(each, kind)).collect();
        let gate = kinds.entry(kind).or_default();
        gate.expires_in_ms = Some(time(kind, &asking, gate.expires_in_ms, problems));
        options(kind, &asking, gate, problems);
        if kind == Interrupt::Checkpoint {
            on_expiry(&asking, gate, problems);
        }
    }
    for kind in [Interrupt::ToolApproval, Interrupt::Escalation, Interrupt::Question] {
        kinds.entry(kind).or_default().expires_in_ms.get_or_insert(HALF_AN_HOUR_MS);
    }
}

/// Whether the phase may open a request of this kind.
fn asks(each: &Made, kind: Interrupt) -> bool {
    let gates = each.phase.gates;
    match (kind, &each.phase.kind) {
        // By the plan gate, or by a checkpoint that the second layer adds.
        (Interrupt::PlanApproval, PhaseKind::Planning(_)) => true,
        (Interrupt::Checkpoint, PhaseKind::Checkpoint(look)) => !look.unasked,
        (Interrupt::Checkpoint, PhaseKind::Control(_) | PhaseKind::OneShot { .. }) => {
            gates.before_step || gates.after_step
        }
        // It has no step that could fail.
        (Interrupt::Error, PhaseKind::Checkpoint(_)) => false,
        (Interrupt::Error, _) => gates.on_error,
        _ => false,
    }
}

/// The one time of a kind: what the server's own workflow says, or the config, or the shortest of what is usual.
fn time(kind: Interrupt, asking: &[&Made], own: Option<u64>, problems: &mut Vec<Problem>) -> u64 {
    let usual = |each: &Made| match (kind, each.kind) {
        (Interrupt::PlanApproval, _) | (_, Kind::HitlCheckpoint) => AN_HOUR_MS,
        _ => HALF_AN_HOUR_MS,
    };
    let Some(said) = asking.iter().find_map(|each| each.timeout_ms.as_ref()) else {
        let shortest = asking.iter().map(|each| usual(each)).min();
        return own.or(shortest).unwrap_or(HALF_AN_HOUR_MS);
    };
    let one = own.unwrap_or(said.value);
    for each in asking {
        let (ms, pointer) = match &each.timeout_ms {
            Some(said) => (said.value, &said.pointer),
            None => (own.unwrap_or(usual(each)), &said.pointer),
        };
        if ms != one {
            let whose = if own.is_some() { "the server's own workflow" } else { "the config" };
            let why = format!(
                "all requests of the kind `{}` in a run have one time: {whose} says {}, and the phase `{}` would have \
                 {}; say the same in each phase that asks",
                kind.as_str(),
                seconds(one),
                each.phase.id,
                seconds(ms)
            );
            problems.push(Problem::new(pointer, why));
        }
    }
    one
}

fn seconds(ms: u64) -> String {
    let (whole, rest) = (ms / 1_000, ms % 1_000);
    if rest == 0 { format!("{whole} s") } else { format!("{whole}.{rest:03} s") }
}

/// Without those that the config switches off.
fn options(kind: Interrupt, asking: &[&Made], gate: &mut KindGate, problems: &mut Vec<Problem>) {
    let all = || interrupt::options(kind).iter().map(|row| row.id.to_owned()).collect();
    let mut left: Vec<String> = if gate.options.is_empty() { all() } else { gate.options.clone() };
    let mut is_less = false;
    for each in asking {
        for Said { value: dropped, pointer } in &each.dropped {
            if dropped.0 != kind || !offers(each, *dropped) {
                continue;
            }
            let keeps = |other: &&&Made| {
                offers(other, *dropped) && !other.dropped.iter().any(|said| said.value == *dropped)
            };
            if let Some(other) = asking.iter().find(keeps) {
                let why = format!(
                    "would hold in the phase `{}` too: all requests of the kind `{}` in a run offer the same",
                    other.phase.id,
                    kind.as_str()
                );
                problems.push(Problem::new(pointer, why));
            }
            left.retain(|id| id != dropped.1);
            is_less = true;
            // An empty list is every option.
            if left.is_empty() {
                problems.push(Problem::new(pointer, "leaves nothing to decide with"));
            }
        }
    }
    if is_less {
        gate.options = left;
    }
}

/// Whether the phase has such an option to lose.
fn offers(each: &Made, option: (Interrupt, &str)) -> bool {
    match option {
        (Interrupt::Checkpoint, "edit") => each.kind == Kind::HitlCheckpoint || each.phase.gates.before_step,
        (Interrupt::Checkpoint, _) => each.phase.gates.before_step,
        _ => true,
    }
}

/// An expiry approves where every phase that asks says so, and never for a step.
fn on_expiry(asking: &[&Made], gate: &mut KindGate, problems: &mut Vec<Problem>) {
    const APPROVE: &str = "approve";
    let Some(first) = asking.iter().find_map(|each| each.on_timeout.as_ref()) else { return };
    let approves = |each: &&&Made| each.on_timeout.as_ref().is_some_and(|said| said.value == APPROVE);
    if let Some(said) = asking.iter().find(approves).and_then(|each| each.on_timeout.as_ref()) {
        if let Some(other) = asking.iter().find(|each| !approves(each)) {
            let why = format!(
                "would approve in the phase `{}` too, where nothing says so: what an expiry decides is the same for \
                 all checkpoints and steps of a run",
                other.phase.id
            );
            problems.push(Problem::new(&said.pointer, why));
        }
        if gate.on_expiry.as_deref().is_some_and(|own| own != APPROVE) {
            problems.push(Problem::new(&said.pointer, "the server's own workflow says otherwise"));
        }
    }
    gate.on_expiry = Some(first.value.to_owned());
}
