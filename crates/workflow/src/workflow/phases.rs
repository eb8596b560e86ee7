//! Reads `phases`: the phases of the workflow. The gates and limits of the workflow are combined with those of each
//! phase.

use std::collections::BTreeMap;

use holdshort_core::definition::{KindGate, Limits, Phase, PhaseKind, StepGates};
use holdshort_core::interrupt::Kind;
use holdshort_core::people::Deciders;
use holdshort_core::tool;

use super::agents::Agents;
use super::phase_kind::Read;
use super::{gates, needs, phase_kind, settings};
use crate::item::{Fields, Item};
use crate::problem::Problems;
use crate::{bounds, name};

/// Settings of the workflow that are needed to read a phase.
pub(super) struct Around<'a> {
    /// Agents of the workflow. `None` if the agents could not be read; names of agents are then not checked.
    pub(super) agents: Option<&'a Agents>,
    pub(super) gates: StepGates,
    pub(super) kinds: &'a BTreeMap<Kind, KindGate>,
    pub(super) limits: Limits,
    pub(super) catalogue: &'a [tool::Spec],
    pub(super) deciders: &'a Deciders,
}

pub(super) fn read(item: &Item<'_>, around: &Around<'_>, problems: &mut Problems) -> Option<Vec<Phase>> {
    let items = item.list(bounds::PHASES, problems)?;
    if items.is_empty() {
        problems.at(item, "a workflow needs at least one phase");
    }
    let mut phases: Vec<Phase> = Vec::new();
    let mut nodes: Vec<needs::Node<'_>> = Vec::new();
    for item in items {
        let Some(fields) = item.fields(&phase_kind::KEYS, problems) else { continue };
        let id = read_id(&fields, &nodes, problems);
        let needs = read_needs(&fields, nodes.last(), problems);
        nodes.push(needs::Node { id: id.unwrap_or_default(), needs });
        let read = phase_kind::read(&fields, around, problems);
        phases.extend(read.map(|read| phase(&fields, read, around, problems)));
    }
    needs::check(&nodes, problems);
    plans(&mut phases, &nodes, item, problems);
    for (phase, node) in phases.iter_mut().zip(nodes) {
        phase.id = node.id;
        phase.needs = node.needs.into_iter().map(|(need, _)| need).collect();
    }
    Some(phases)
}

/// Builds a phase of the workflow. The caller sets the phase's `id` and `needs`.
fn phase(fields: &Fields<'_>, read: Read, around: &Around<'_>, problems: &mut Problems) -> Phase {
    let input = fields.find("input").and_then(|item| item.text(bounds::TEXT, problems));
    let limits = fields.find("limits");
    let (gates, kinds) = match fields.find("gates") {
        Some(item) => gates::of_phase(item, &read, around, problems),
        None => (read.gates, BTreeMap::new()),
    };
    Phase {
        id: String::new(),
        kind: read.kind,
        needs: Vec::new(),
        input,
        gates,
        kinds,
        limits: limits.map_or(around.limits, |item| settings::limits(item, around.limits, problems)),
    }
}

/// Sets, for each `control` phase, the planning phase whose plan it carries out. This is the phase that the key `plan`
/// names, or else the nearest planning phase before. The planning phase must end before the `control` phase starts.
fn plans(phases: &mut [Phase], nodes: &[needs::Node<'_>], item: &Item<'_>, problems: &mut Problems) {
    // If a phase could not be read, a problem is already reported, and the indexes of the two lists do not match.
    if phases.len() != nodes.len() {
        return;
    }
    let makes_plans: Vec<bool> = phases.iter().map(|phase| phase.kind.planning().is_some()).collect();
    for (at, phase) in phases.iter_mut().enumerate() {
        let PhaseKind::Control(control) = &mut phase.kind else { continue };
        let before = needs::before(nodes, at);
        let mut planned = before.into_iter().filter(|at| makes_plans[*at]).map(|at| &nodes[at].id);
        let found = match control.plan.as_str() {
            "" => planned.next(),
            named => planned.find(|id| *id == named),
        };
        match found {
            Some(id) => control.plan.clone_from(id),
            None if control.plan.is_empty() => {
                problems.at(item, format!("`{}` needs a planning phase before it", nodes[at].id));
            }
            None => {
                let (id, plan) = (&nodes[at].id, &control.plan);
                problems
                    .at(item, format!("`{id}` carries out `{plan}`, which is not an earlier planning phase"));
            }
        }
    }
}

fn read_id(fields: &Fields<'_>, before: &[needs::Node<'_>], problems: &mut Problems) -> Option<String> {
    let item = fields.need("id", problems)?;
    let id = item.text(bounds::LINE, problems)?;
    if before.iter().any(|node| node.id == id) {
        problems.at(item, format!("an earlier phase is also named `{id}`"));
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
