//! Reads `gates.KIND`: settings for one kind of interrupt, in a workflow or in a phase. The core defines which options
//! a kind of interrupt can have.

use std::collections::BTreeMap;

use holdshort_core::definition::{KindGate, PhaseKind};
use holdshort_core::interrupt::{self, Carry, Effect, Kind, Offer, Row};
use holdshort_core::people::Deciders;

use super::{assignment, timing};
use crate::bounds;
use crate::item::{Item, Keys};
use crate::problem::Problems;

const KEYS: Keys = Keys {
    known: &[
        "options",
        "labels",
        "reject",
        "expires_in",
        "on_expiry",
        "approvers",
        "assignment",
        "reminders",
        "escalation",
        "working_time",
    ],
    later: &[],
};

/// Effects that can be configured for the option `reject`. A kind of interrupt allows only some of them.
const REJECT: [(&str, Effect); 4] = [
    ("refuse", Effect::Refuse),
    ("drop_plan", Effect::DropPlan),
    ("end_turn", Effect::EndTurn),
    ("fail_run", Effect::FailRun),
];

/// A kind of interrupt, with the options that a gate of the workflow can offer.
#[derive(Clone, Copy)]
pub(super) struct Table {
    kind: Kind,
    /// Ids of the options that a gate can offer in an interrupt of this kind. Empty if it can offer all options of the
    /// kind.
    only: &'static [&'static str],
}

impl Table {
    pub(super) fn of_workflow(kind: Kind) -> Self {
        Self { kind, only: &[] }
    }

    pub(super) fn of_phase(kind: Kind, phase: &PhaseKind) -> Self {
        match phase {
            PhaseKind::Checkpoint(look) => Self { kind, only: look.options() },
            PhaseKind::OneShot { .. }
            | PhaseKind::Planning(_)
            | PhaseKind::Control(_)
            | PhaseKind::IdeaGeneration(_)
            | PhaseKind::Call { .. }
            | PhaseKind::Copilot(_) => Self::of_workflow(kind),
        }
    }

    fn rows(self) -> impl Iterator<Item = &'static Row> {
        let rows = self.kind.row().options.iter();
        rows.filter(move |row| self.only.is_empty() || self.only.contains(&row.id))
    }

    /// Returns the description of an option of an interrupt. Reports a problem if the option is unknown.
    fn row(self, item: &Item<'_>, id: &str, problems: &mut Problems) -> Option<&'static Row> {
        let row = self.rows().find(|row| row.id == id);
        if row.is_none() {
            let here = if interrupt::option(self.kind, id).is_some() { " here" } else { "" };
            let message = format!("`{}` has no option `{id}`{here}", self.kind.as_str());
            problems.unknown(item, id, message, self.rows().map(|row| row.id));
        }
        row
    }
}

/// Reads the settings for one kind of interrupt. `usual` applies to missing keys: for a phase, it has the settings of
/// the workflow. Its values are not part of the result, and only needed to check `on_expiry`.
pub(super) fn read(
    item: &Item<'_>,
    table: Table,
    usual: KindGate,
    deciders: &Deciders,
    problems: &mut Problems,
) -> Option<KindGate> {
    let fields = item.fields(&KEYS, problems)?;
    let gate = KindGate {
        options: fields.find("options").map(|item| options(item, table, problems)).unwrap_or_default(),
        labels: fields.find("labels").and_then(|item| labels(item, table, problems)).unwrap_or_default(),
        reject: fields.find("reject").and_then(|item| reject(item, table.kind, problems)),
        respond: None,
        expires_in_ms: fields.find("expires_in").and_then(|item| timing::length(item, &fields, problems)),
        on_expiry: fields.find("on_expiry").and_then(|item| on_expiry(item, table, problems)),
        assignment: assignment::of_gate(&fields, deciders, problems),
        reminders: timing::reminders(&fields, problems),
        escalation: timing::escalation(&fields, deciders, problems),
        working_time: fields.find("working_time").and_then(|item| item.flag(problems)),
    };
    let KindGate { options, on_expiry: Some(id), .. } = gate.over(usual) else { return Some(gate) };
    let is_known = table.rows().any(|row| row.id == id);
    if is_known && !options.is_empty() && !options.contains(&id) {
        let whose = if gate.options.is_empty() { "the workflow's" } else { "the" };
        let said = fields.find("on_expiry");
        if let Some(item) = said.filter(|_| gate.on_expiry.is_some()) {
            problems.at(item, format!("the option `{id}` is not listed in {whose} `options`"));
        } else if let (None, Some(item)) = (said, fields.find("options")) {
            problems.at(item, format!("these `options` lack `{id}`, which the workflow sets as `on_expiry`"));
        }
    }
    Some(gate)
}

/// Reads the options that a gate offers, in order. Reports a problem if every option lets the work continue, because a
/// person could then not refuse.
fn options(item: &Item<'_>, table: Table, problems: &mut Problems) -> Vec<String> {
    let before = problems.len();
    let named = item.texts(bounds::LIST, bounds::LINE, problems).unwrap_or_default();
    let named: Vec<String> = named
        .into_iter()
        .filter(|(id, item)| table.row(item, id, problems).is_some())
        .map(|(id, _)| id)
        .collect();
    let rows = || table.rows().map(Offer::from_row);
    if problems.len() == before && !rows().any(|row| named.contains(&row.id) && !row.releases()) {
        let others: Vec<_> =
            rows().filter(|row| !row.releases()).map(|row| format!("`{}`", row.id)).collect();
        problems.at(
            item,
            format!("at least one option must not let the work continue: add one of {}", others.join(", ")),
        );
    }
    named
}

fn labels(item: &Item<'_>, table: Table, problems: &mut Problems) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for (id, key, value) in item.entries(problems)? {
        if table.row(&key, id, problems).is_some()
            && let Some(label) = value.text(bounds::LINE, problems)
        {
            labels.insert(id.to_owned(), label);
        }
    }
    Some(labels)
}

fn reject(item: &Item<'_>, kind: Kind, problems: &mut Problems) -> Option<Effect> {
    let Some(row) = interrupt::option(kind, "reject") else {
        problems.at(item, format!("`{}` has no option `reject`", kind.as_str()));
        return None;
    };
    let allowed: Vec<_> = REJECT.into_iter().filter(|(_, effect)| row.effects.contains(effect)).collect();
    item.one_of(&allowed, problems)
}

fn on_expiry(item: &Item<'_>, table: Table, problems: &mut Problems) -> Option<String> {
    let id = item.text(bounds::LINE, problems)?;
    let row = table.row(item, &id, problems)?;
    let kind = table.kind;
    let needs_a_person =
        row.text == Carry::Must || row.edit == Carry::Must || row.effects.contains(&Effect::Grant);
    // An expiry cannot give the result of a call at a client.
    let needs_a_person = needs_a_person || (kind == Kind::ClientCall && id == "result");
    if needs_a_person {
        problems.at(
            item,
            format!(
                "the option `{id}` needs input from a person, so it cannot be applied on expiry: choose \
                another option"
            ),
        );
        return None;
    }
    Some(id)
}
