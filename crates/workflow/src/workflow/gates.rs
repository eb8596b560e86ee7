//! Reads `gates` of a workflow or a phase: the points at which a person decides. `rules.rs` reads the rules, and
//! `kinds.rs` reads the kinds of interrupts.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::definition::{Gates, Grants, KindGate, PhaseKind, PlanGate, SameAction, StepGates};
use holdshort_core::interrupt::Kind;
use holdshort_core::people::Deciders;
use holdshort_core::policy::{Checkpoint, GrantCovers, Rule};
use holdshort_core::tool;

use super::agents::Agents;
use super::kinds::Table;
use super::phase_kind::Read;
use super::phases::Around;
use super::{kinds, rules, smart, withhold};
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;
use crate::{bounds, duration};

/// Known keys of `gates`: first the gates around steps, then the other gates of a workflow, then the kinds of
/// interrupts.
const KEYS: Keys = Keys { known: &KNOWN, later: &[] };
const OWN: [&str; 13] = [
    "before_step",
    "after_step",
    "on_error",
    "plan",
    "mandatory",
    "deploy",
    "smart",
    "trial",
    "rules",
    "same_action",
    "grants",
    "withhold",
    "release_ends_step",
];
/// Number of gates around steps, which are the first entries of the constant `OWN`.
const AROUND_STEPS: usize = 3;
const KNOWN: [&str; OWN.len() + Kind::ALL.len()] = {
    let mut keys = [""; OWN.len() + Kind::ALL.len()];
    let mut at = 0;
    while at < keys.len() {
        keys[at] = if at < OWN.len() { OWN[at] } else { Kind::ALL[at - OWN.len()].as_str() };
        at += 1;
    }
    keys
};

const ASK_OR_OFF: [(&str, bool); 2] = [("ask", true), ("off", false)];
const ON_OR_OFF: [(&str, bool); 2] = [("on", true), ("off", false)];
/// Values of the gate `after_step`. The first flag is true if the gate asks a person after a step. The second flag is
/// true if the gate does not ask after a step without findings.
const AFTER_STEP: [(&str, (bool, bool)); 3] =
    [("ask", (true, false)), ("unless_clean", (true, true)), ("off", (false, false))];
const ASK_OR_SHOW: [(&str, PlanGate); 2] = [("ask", PlanGate::Ask), ("show", PlanGate::Show)];

const CHECKPOINTS: [(&str, Checkpoint); 4] = {
    let [a, b, c, d] = Checkpoint::ALL;
    [(a.as_str(), a), (b.as_str(), b), (c.as_str(), c), (d.as_str(), d)]
};

/// Reads the gates of the workflow: the gates around steps, which are the defaults for every phase, and all others.
pub(super) fn read(
    item: &Item<'_>,
    agents: Option<&Agents>,
    catalogue: &[tool::Spec],
    deciders: &Deciders,
    problems: &mut Problems,
) -> (StepGates, Gates) {
    let mut gates = Gates::default();
    let Some(fields) = item.fields(&KEYS, problems) else { return (StepGates::default(), gates) };
    let around_steps = around_steps(&fields, StepGates::default(), problems);
    if let Some(plan) = fields.find("plan").and_then(|item| item.one_of(&ASK_OR_SHOW, problems)) {
        gates.plan = plan;
    }
    gates.trial = fields.find("trial").and_then(|item| item.one_of(&ON_OR_OFF, problems)).unwrap_or_default();
    if let Some(item) = fields.find("mandatory") {
        mandatory(item, &mut gates, problems);
    }
    if let Some(item) = fields.find("deploy") {
        if !gates.mandatory.contains(&Checkpoint::BeforeDeploy) {
            problems
                .at(item, "`deploy` has no effect without `before_deploy` among the `mandatory` checkpoints");
        }
        let named = item.texts(bounds::LIST, bounds::LINE, problems).unwrap_or_default();
        gates.deploy = named.into_iter().map(|(named, _)| named).collect();
    }
    gates.smart = fields.find("smart").and_then(|item| smart::read(item, problems));
    if let Some(item) = fields.find("rules") {
        gates.rules = rules::read(item, agents, catalogue, problems).unwrap_or_default();
    }
    if let Some(item) = fields.find("rules").filter(|_| !gates.trial) {
        let speaks_of_changes = |rule: &Rule| rule.changes.is_some() || rule.deletes.is_some();
        if gates.rules.iter().any(speaks_of_changes) {
            problems.at(
                item,
                "`changes` and `deletes` match the result of a trial; add `trial: on` next to the rules",
            );
        }
    }
    let ways = [("ask", SameAction::Ask), ("once", SameAction::Once)];
    gates.same_action =
        fields.find("same_action").and_then(|item| item.one_of(&ways, problems)).unwrap_or_default();
    gates.grants = fields.find("grants").and_then(|item| grants(item, problems)).unwrap_or_default();
    gates.withhold = fields.find("withhold").map(|item| withhold::read(item, problems)).unwrap_or_default();
    gates.release_ends_step = fields
        .find("release_ends_step")
        .and_then(|item| item.one_of(&ON_OR_OFF, problems))
        .unwrap_or_default();
    for kind in Kind::ALL {
        let Some(item) = fields.find(kind.as_str()) else { continue };
        let read = kinds::read(item, Table::of_workflow(kind), KindGate::default(), deciders, problems);
        gates.kinds.extend(read.map(|gate| (kind, gate)));
    }
    (around_steps, gates)
}

/// Reads `gates.grants`: which calls a grant for the session allows, and when the grant expires.
fn grants(item: &Item<'_>, problems: &mut Problems) -> Option<Grants> {
    const GRANTS: Keys = Keys { known: &["covers", "expires_after"], later: &[] };
    const COVERS: [(&str, GrantCovers); 2] =
        [("call", GrantCovers::Call), ("category", GrantCovers::Category)];
    let fields = item.fields(&GRANTS, problems)?;
    Some(Grants {
        covers: fields.find("covers").and_then(|item| item.one_of(&COVERS, problems)).unwrap_or_default(),
        expires_after_ms: fields.find("expires_after").and_then(|item| duration::read(item, problems)),
    })
}

/// Reads `gates.mandatory`: the checkpoints that always ask. An entry is a name, or for example `{before_execution:
/// {trial: true}}`. With `trial: true`, the checkpoint asks after the trial, and otherwise before it. If both forms are
/// listed, it asks before the trial.
fn mandatory(item: &Item<'_>, gates: &mut Gates, problems: &mut Problems) {
    const BEFORE_EXECUTION: Keys = Keys { known: &[Checkpoint::BeforeExecution.as_str()], later: &[] };
    const TRIAL: Keys = Keys { known: &["trial"], later: &[] };
    let mut by_name = BTreeSet::new();
    for item in item.list(bounds::LIST, problems).unwrap_or_default() {
        if !item.is_mapping() {
            by_name.extend(item.one_of(&CHECKPOINTS, problems));
            continue;
        }
        let Some(fields) = item.fields(&BEFORE_EXECUTION, problems) else { continue };
        let Some(item) = fields.need(BEFORE_EXECUTION.known[0], problems) else { continue };
        let Some(fields) = item.fields(&TRIAL, problems) else { continue };
        let Some(item) = fields.need("trial", problems) else { continue };
        if item.flag(problems) != Some(true) {
            by_name.insert(Checkpoint::BeforeExecution);
            continue;
        }
        gates.mandatory.insert(Checkpoint::BeforeExecution);
        if !gates.trial {
            problems.at(item, "trials are off; write `trial: on` in the `gates`");
        }
    }
    // A question before the trial is stricter. Therefore it is used, whatever the order of the entries.
    gates.trial_before_execution =
        !gates.mandatory.is_empty() && !by_name.contains(&Checkpoint::BeforeExecution);
    gates.mandatory.extend(by_name);
}

/// Reads the gates of a phase: the phase's gates around steps, which override those of the workflow, and its settings
/// for kinds of interrupts.
pub(super) fn of_phase(
    item: &Item<'_>,
    read: &Read,
    around: &Around<'_>,
    problems: &mut Problems,
) -> (StepGates, BTreeMap<Kind, KindGate>) {
    let mut own = BTreeMap::new();
    let Some(fields) = item.fields(&KEYS, problems) else { return (read.gates, own) };
    for key in &OWN[AROUND_STEPS..] {
        if let Some(item) = fields.find(key) {
            problems.at(item, format!("`{key}` belongs to the workflow's `gates`, not to a phase's"));
        }
    }
    let word = read.word;
    let mut named = false;
    for key in &OWN[..AROUND_STEPS] {
        let Some(item) = fields.find(key) else { continue };
        named = true;
        if !is_applicable(key, &read.kind) {
            problems.at(item, format!("`{key}` has no effect in a phase of the kind `{word}`"));
        }
    }
    for kind in Kind::ALL {
        let Some(item) = fields.find(kind.as_str()) else { continue };
        if !read.kind.opens(kind) {
            let never = format!(
                "interrupts of the kind `{}` never occur in a phase of the kind `{word}`",
                kind.as_str()
            );
            problems.at(item, never);
            continue;
        }
        let usual = around.kinds.get(&kind).cloned().unwrap_or_default();
        let gate = kinds::read(item, Table::of_phase(kind, &read.kind), usual, around.deciders, problems);
        own.extend(gate.map(|gate| (kind, gate)));
    }
    (if named { around_steps(&fields, around.gates, problems) } else { read.gates }, own)
}

/// Returns true if a gate around steps has an effect in phases of this kind. A checkpoint phase has no steps. Planning
/// and idea generation have other gates for their results.
fn is_applicable(key: &str, kind: &PhaseKind) -> bool {
    match kind {
        PhaseKind::OneShot { .. } | PhaseKind::Control(_) | PhaseKind::Copilot(_) => true,
        PhaseKind::Planning(_) | PhaseKind::IdeaGeneration(_) => key == "on_error",
        PhaseKind::Checkpoint(_) | PhaseKind::Call { .. } => false,
    }
}

fn around_steps(fields: &Fields<'_>, base: StepGates, problems: &mut Problems) -> StepGates {
    let after = fields.find("after_step").and_then(|item| item.one_of(&AFTER_STEP, problems));
    let (after_step, unless_clean) = after.unwrap_or((base.after_step, base.unless_clean));
    let mut gate = |key: &str, base: bool| {
        fields.find(key).and_then(|item| item.one_of(&ASK_OR_OFF, problems)).unwrap_or(base)
    };
    StepGates {
        before_step: gate("before_step", base.before_step),
        after_step,
        unless_clean,
        on_error: gate("on_error", base.on_error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_interrupt_is_a_key() {
        assert_eq!(KEYS.known[..OWN.len()], OWN);
        assert_eq!(KEYS.known[OWN.len()..], Kind::ALL.map(Kind::as_str));
    }
}
