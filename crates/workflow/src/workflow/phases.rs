//! `phases`: the nodes of the workflow. Merges the workflow's gates and limits into each.

use holdshort_core::definition::{Limits, Phase, PhaseKind, StepGates};

use super::agents::Agents;
use super::{gates, needs, settings};
use crate::item::{Fields, Item, Keys};
use crate::problem::Problems;
use crate::yaml::Value;
use crate::{bounds, name};

const KEYS: Keys = Keys {
    known: &["id", "kind", "agent", "message", "needs", "input", "gates", "limits"],
    later: &["agents"],
};
const KINDS: [(&str, Kind); 2] = [("one_shot", Kind::OneShot), ("checkpoint", Kind::Checkpoint)];
const LATER: [&str; 4] = ["planning", "control", "idea_generation", "copilot"];

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    OneShot,
    Checkpoint,
}

/// What the workflow says about every phase.
pub(super) struct Around<'a> {
    /// `None` where the agents could not be read: then nobody is looked up.
    pub(super) agents: Option<&'a Agents>,
    pub(super) gates: StepGates,
    pub(super) limits: Limits,
}

pub(super) fn read(item: &Item<'_>, around: &Around<'_>, problems: &mut Problems) -> Option<Vec<Phase>> {
    let items = item.list(bounds::PHASES, problems)?;
    if items.is_empty() {
        problems.at(item, "a workflow needs at least one phase");
    }
    let mut phases: Vec<Phase> = Vec::new();
    let mut nodes: Vec<needs::Node<'_>> = Vec::new();
    for item in items {
        let Some(fields) = item.fields(&KEYS, problems) else { continue };
        let id = read_id(&fields, &nodes, problems);
        let needs = read_needs(&fields, nodes.last(), problems);
        nodes.push(needs::Node { id: id.unwrap_or_default(), needs });
        let kind = read_kind(&fields, around, problems);
        phases.extend(kind.map(|kind| phase(&fields, kind, around, problems)));
    }
    needs::check(&nodes, problems);
    for (phase, node) in phases.iter_mut().zip(nodes) {
        phase.id = node.id;
        phase.needs = node.needs.into_iter().map(|(need, _)| need).collect();
    }
    Some(phases)
}

/// `id` and `needs` are filled in by the caller. When a phase has no kind, they are of no use: it is a problem.
fn phase(fields: &Fields<'_>, kind: PhaseKind, around: &Around<'_>, problems: &mut Problems) -> Phase {
    let input = fields.find("input").and_then(|item| item.text(bounds::TEXT, problems));
    let gates = fields.find("gates");
    let limits = fields.find("limits");
    Phase {
        id: String::new(),
        kind,
        needs: Vec::new(),
        input,
        gates: gates.map_or(around.gates, |item| gates::of_phase(item, around.gates, problems)),
        limits: limits.map_or(around.limits, |item| settings::limits(item, around.limits, problems)),
    }
}

fn read_id(fields: &Fields<'_>, before: &[needs::Node<'_>], problems: &mut Problems) -> Option<String> {
    let item = fields.need("id", problems)?;
    let id = item.text(bounds::LINE, problems)?;
    if before.iter().any(|node| node.id == id) {
        problems.at(item, format!("there is another phase `{id}` before"));
        return None;
    }
    name::lower_case(&id, item, problems).then_some(id)
}

fn read_needs<'a>(
    fields: &Fields<'a>,
    before: Option<&needs::Node<'_>>,
    problems: &mut Problems,
) -> Vec<(String, Option<Item<'a>>)> {
    match fields.find("needs") {
        Some(item) => {
            let written = item.texts(bounds::PHASES, bounds::LINE, problems).unwrap_or_default();
            written.into_iter().map(|(need, item)| (need, Some(item))).collect()
        }
        None => before.map(|node| (node.id.clone(), None)).into_iter().collect(),
    }
}

fn read_kind(fields: &Fields<'_>, around: &Around<'_>, problems: &mut Problems) -> Option<PhaseKind> {
    let item = fields.need("kind", problems)?;
    if let Value::Text(text) = &item.node.value
        && LATER.contains(&text.as_str())
    {
        problems.at(item, format!("phases of the kind `{text}` are not supported yet by this version"));
        return None;
    }
    let kind = item.one_of(&KINDS, problems)?;
    let (needed, meaningless): (_, &[&str]) = match kind {
        Kind::OneShot => ("agent", &["message"]),
        Kind::Checkpoint => ("message", &["agent", "input", "gates", "limits"]),
    };
    for key in meaningless {
        if let Some(item) = fields.find(key) {
            let kind = KINDS.iter().find(|(_, of)| *of == kind).map_or("", |(word, _)| word);
            problems.at(item, format!("`{key}` means nothing in a phase of the kind `{kind}`"));
        }
    }
    let item = fields.need(needed, problems)?;
    match kind {
        Kind::OneShot => {
            let agent = item.text(bounds::LINE, problems)?;
            if let Some(agents) = around.agents.filter(|agents| !agents.has(&agent)) {
                problems.unknown(item, &agent, format!("there is no agent `{agent}`"), agents.names());
            }
            Some(PhaseKind::OneShot { agent })
        }
        Kind::Checkpoint => Some(PhaseKind::Checkpoint { message: item.text(bounds::TEXT, problems)? }),
    }
}
