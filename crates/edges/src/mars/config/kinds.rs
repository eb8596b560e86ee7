//! Requests of each phase: the time after which they expire, the option that is chosen when they expire, and the
//! offered options (contracts A12 to A14). If the server has its own base workflow, a config cannot weaken the settings
//! of this workflow. A config is rejected if it sets a different time to expiry than the workflow. A config is also
//! rejected if it approves requests that expire and the workflow does not.

use holdshort_core::definition::{Definition, KindGate, Phase, PhaseKind};
use holdshort_core::interrupt::{self, Effect, Kind as Interrupt, Offer};

use super::raw_config::Reader;

/// An interrupt about a step or a call expires after half an hour, an interrupt about a plan or a checkpoint after an
/// hour.
const HALF_AN_HOUR_MS: u64 = 30 * 60 * 1_000;
const AN_HOUR_MS: u64 = 2 * HALF_AN_HOUR_MS;

/// Default time after which each kind of interrupt expires. In a checkpoint phase, every kind expires after an hour.
const USUAL: [(Interrupt, u64); 9] = [
    (Interrupt::PlanApproval, AN_HOUR_MS),
    (Interrupt::Checkpoint, HALF_AN_HOUR_MS),
    (Interrupt::Error, HALF_AN_HOUR_MS),
    (Interrupt::ToolApproval, HALF_AN_HOUR_MS),
    (Interrupt::Escalation, HALF_AN_HOUR_MS),
    (Interrupt::Question, HALF_AN_HOUR_MS),
    (Interrupt::Review, HALF_AN_HOUR_MS),
    (Interrupt::Choice, HALF_AN_HOUR_MS),
    // An expired turn ends the work, because further rounds are useless while the person is absent.
    (Interrupt::Turn, AN_HOUR_MS),
];

/// Kinds of interrupts that agents open while they work. Interrupts about a limit or an unknown outcome are not in this
/// list, because they never expire.
const IN_CONVERSATIONS: [Interrupt; 7] = [
    Interrupt::ToolApproval,
    Interrupt::PlanApproval,
    Interrupt::Escalation,
    Interrupt::Question,
    Interrupt::Review,
    Interrupt::Choice,
    Interrupt::Turn,
];

/// Config keys of MARS that switch off an option: the key, the kind of interrupt, and the option.
const ALLOWED: [(&str, Interrupt, &str); 5] = [
    ("allow_plan_modification", Interrupt::PlanApproval, "edit"),
    ("allow_step_skip", Interrupt::Checkpoint, "skip"),
    ("allow_step_skip", Interrupt::Error, "skip"),
    ("allow_step_retry", Interrupt::Error, "retry"),
    ("allow_step_modification", Interrupt::Checkpoint, "edit"),
];

pub(super) fn usual(definition: &mut Definition) {
    for (kind, ms) in USUAL {
        definition.gates.kinds.entry(kind).or_default().expires_in_ms.get_or_insert(ms);
    }
}

/// Changes the option with which a person gives instructions instead of approving a call. The option now rejects the
/// call (contracts A33, E43). Without this change, the person's text would be recorded as the output of the call.
pub(super) fn instructions(definition: &mut Definition) {
    let gate = definition.gates.kinds.entry(Interrupt::ToolApproval).or_default();
    gate.respond = Some(Effect::Refuse);
    gate.labels.entry("respond".to_owned()).or_insert_with(|| "Give instructions".to_owned());
}

/// Applies the config to a phase that was copied from a template of `base`.
pub(super) fn set(phase: &mut Phase, base: &Definition, reader: &mut Reader<'_>) {
    let time_ms = reader.time_ms("timeout_seconds");
    let on_timeout = reader.one_of("default_on_timeout", &[("reject", "reject"), ("approve", "approve")]);
    let dropped = dropped(reader);
    let is_checkpoint = matches!(phase.kind, PhaseKind::Checkpoint(_));
    for (asked, _) in USUAL {
        let by_gate = asks(phase, asked);
        let by_agent = IN_CONVERSATIONS.contains(&asked) && phase.kind.opens(asked);
        if !(by_gate || by_agent) {
            continue;
        }
        let floor = base.gate(Some(phase), asked);
        let gate = phase.kinds.entry(asked).or_default();
        match (floor.expires_in_ms, time_ms) {
            (None, Some(said)) => gate.expires_in_ms = Some(said),
            (None, None) if is_checkpoint => gate.expires_in_ms = Some(AN_HOUR_MS),
            (Some(own), Some(said)) if own != said => refuse_time(asked, own, reader),
            _ => {}
        }
        if !by_gate {
            continue;
        }
        match (floor.on_expiry.as_deref(), on_timeout) {
            (Some(own), Some("approve")) if own != "approve" => {
                reader.refuse_key(
                    "default_on_timeout",
                    "contradicts the server's own workflow, which does not approve on expiry",
                );
            }
            (_, Some(said)) => gate.on_expiry = Some(said.to_owned()),
            (_, None) => {}
        }
        let mut left = offered(asked, floor.options);
        for (key, _, id) in dropped.iter().filter(|(_, kind, _)| *kind == asked) {
            left.retain(|each| each != id);
            gate.options.clone_from(&left);
            if left.iter().all(|id| releases(asked, id)) {
                reader.refuse_key(key, "would leave no option with which a person can decline");
            }
        }
    }
    phase.kinds.retain(|_, gate| *gate != KindGate::default());
}

/// Returns the options that the config switches off, each with its key and its kind of interrupt.
pub(super) fn dropped(reader: &mut Reader<'_>) -> Vec<(&'static str, Interrupt, &'static str)> {
    let mut dropped = ALLOWED.to_vec();
    dropped.retain(|(key, ..)| reader.flag(key) == Some(false));
    dropped
}

/// Returns true if a gate of the phase can open an interrupt of this kind.
fn asks(phase: &Phase, kind: Interrupt) -> bool {
    let gates = phase.gates;
    match (kind, &phase.kind) {
        // The plan gate or a checkpoint of the second layer opens this request.
        (Interrupt::PlanApproval, PhaseKind::Planning(_)) => true,
        (Interrupt::Checkpoint, PhaseKind::Checkpoint(look)) => !look.unasked,
        (
            Interrupt::Checkpoint,
            PhaseKind::Control(_) | PhaseKind::OneShot { .. } | PhaseKind::Copilot(_),
        ) => gates.before_step || gates.after_step,
        // A checkpoint phase has no steps, so nothing can fail in it.
        (Interrupt::Error, PhaseKind::Checkpoint(_)) => false,
        (Interrupt::Error, _) => gates.on_error,
        _ => false,
    }
}

fn refuse_time(asked: Interrupt, own_ms: u64, reader: &mut Reader<'_>) {
    let asked = asked.as_str();
    let why = format!("contradicts the server's workflow, which sets {} for each `{asked}`", seconds(own_ms));
    reader.refuse_key("timeout_seconds", why);
}

fn seconds(ms: u64) -> String {
    let (whole, rest) = (ms / 1_000, ms % 1_000);
    if rest == 0 { format!("{whole} s") } else { format!("{whole}.{rest:03} s") }
}

/// Returns the options that an interrupt offers. An empty `options` means all options of the kind.
fn offered(kind: Interrupt, options: Vec<String>) -> Vec<String> {
    let all = || kind.row().options.iter().map(|row| row.id.to_owned()).collect();
    if options.is_empty() { all() } else { options }
}

fn releases(kind: Interrupt, id: &str) -> bool {
    interrupt::option(kind, id).is_some_and(|row| Offer::from_row(row).releases())
}
