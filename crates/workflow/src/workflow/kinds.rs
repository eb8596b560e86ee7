//! `gates.KIND`: what a workflow, or a phase of it, changes about one kind of interrupt, within the core's closed table.

use std::collections::BTreeMap;

use holdshort_core::definition::KindGate;
use holdshort_core::interrupt::{self, Carry, Choice, Effect, Kind};

use crate::item::{Item, Keys};
use crate::problem::Problems;
use crate::{bounds, duration};

const KEYS: Keys = Keys {
    known: &["options", "labels", "reject", "expires_in", "on_expiry", "approvers"],
    later: &["assignment"],
};

/// The effects that `reject` has for some kind.
const REJECT: [(&str, Effect); 4] = [
    ("refuse", Effect::Refuse),
    ("drop_plan", Effect::DropPlan),
    ("end_turn", Effect::EndTurn),
    ("fail_run", Effect::FailRun),
];

/// `usual` is what holds where nothing is said: for a phase, the workflow's own.
pub(super) fn read(
    item: &Item<'_>,
    kind: Kind,
    usual: KindGate,
    problems: &mut Problems,
) -> Option<KindGate> {
    let fields = item.fields(&KEYS, problems)?;
    let approvers = fields.find("approvers");
    let named = approvers.and_then(|item| item.texts(bounds::LIST, bounds::LINE, problems));
    if let (Some(item), Some([])) = (approvers, named.as_deref())
        && !usual.approvers.is_empty()
    {
        problems.at(
            item,
            "nobody is named, and so the workflow's `approvers` decide: name who may, or leave it out",
        );
    }
    let gate = KindGate {
        options: fields.find("options").map(|item| options(item, kind, problems)).unwrap_or_default(),
        labels: fields.find("labels").and_then(|item| labels(item, kind, problems)).unwrap_or_default(),
        reject: fields.find("reject").and_then(|item| reject(item, kind, problems)),
        expires_in_ms: fields.find("expires_in").and_then(|item| duration::read(item, problems)),
        on_expiry: fields.find("on_expiry").and_then(|item| on_expiry(item, kind, problems)),
        approvers: named.unwrap_or_default().into_iter().map(|(approver, _)| approver).collect(),
    };
    let KindGate { options, on_expiry: Some(id), .. } = gate.over(usual) else { return Some(gate) };
    if !options.is_empty() && !options.contains(&id) {
        let whose = if gate.options.is_empty() { "the workflow's" } else { "the" };
        match (fields.find("on_expiry"), fields.find("options")) {
            (Some(item), _) => problems.at(item, format!("`{id}` is not among {whose} `options`")),
            (None, Some(item)) => {
                problems.at(item, format!("`{id}`, the workflow's `on_expiry`, is not among these"));
            }
            (None, None) => {}
        }
    }
    Some(gate)
}

/// Which options are offered, in this order. One that does not release work must be among them: who can only agree
/// decides nothing.
fn options(item: &Item<'_>, kind: Kind, problems: &mut Problems) -> Vec<String> {
    let before = problems.len();
    let named = item.texts(bounds::LIST, bounds::LINE, problems).unwrap_or_default();
    let named: Vec<String> = named
        .into_iter()
        .filter(|(id, item)| is_option(item, id, kind, problems))
        .map(|(id, _)| id)
        .collect();
    let rows = || interrupt::options(kind).iter().map(Choice::of);
    if problems.len() == before && !rows().any(|row| named.contains(&row.id) && !row.releases()) {
        let others: Vec<_> =
            rows().filter(|row| !row.releases()).map(|row| format!("`{}`", row.id)).collect();
        problems.at(item, format!("needs one that does not release work: {}", others.join(", ")));
    }
    named
}

fn labels(item: &Item<'_>, kind: Kind, problems: &mut Problems) -> Option<BTreeMap<String, String>> {
    let mut labels = BTreeMap::new();
    for (id, key, value) in item.entries(problems)? {
        if is_option(&key, id, kind, problems)
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

fn on_expiry(item: &Item<'_>, kind: Kind, problems: &mut Problems) -> Option<String> {
    let id = item.text(bounds::LINE, problems)?;
    if !is_option(item, &id, kind, problems) {
        return None;
    }
    let row = interrupt::option(kind, &id)?;
    let needs_a_person =
        row.text == Carry::Must || row.edit == Carry::Must || row.effects.contains(&Effect::Grant);
    // A result that nobody gave is none.
    let needs_a_person = needs_a_person || (kind == Kind::ClientCall && id == "result");
    if needs_a_person && id != interrupt::default_on_expiry(kind) {
        problems.at(item, format!("`{id}` needs a person's words or name; nobody gives them on expiry"));
        return None;
    }
    Some(id)
}

fn is_option(item: &Item<'_>, id: &str, kind: Kind, problems: &mut Problems) -> bool {
    let is_option = interrupt::option(kind, id).is_some();
    if !is_option {
        let message = format!("`{}` has no option `{id}`", kind.as_str());
        problems.unknown(item, id, message, interrupt::options(kind).iter().map(|row| row.id));
    }
    is_option
}
