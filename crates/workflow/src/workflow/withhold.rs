//! Reads `gates.withhold`: fields in the payload of interrupts that are hidden from people with a certain role.

use std::collections::BTreeSet;

use holdshort_core::actor::Role;
use holdshort_core::interrupt::Withhold;
use holdshort_core::interrupt::withhold::{BLINDED, flaw_of_field, flaw_of_role};
use holdshort_core::limits;
use holdshort_core::rights::ROLES;

use crate::bounds;
use crate::item::{Item, Keys};
use crate::problem::Problems;
use crate::yaml::Value;

const RULE: Keys = Keys { known: &["from", "fields"], later: &[] };

pub(super) fn read(item: &Item<'_>, problems: &mut Problems) -> Vec<Withhold> {
    let items = item.list(limits::WITHHOLD_RULES, problems).unwrap_or_default();
    if items.is_empty() {
        problems.at(item, "the list is empty: add a rule, or remove the key");
    }
    let read = items.iter().filter_map(|item| {
        let fields = item.fields(&RULE, problems)?;
        let from = fields.need("from", problems).map(|item| roles(item, problems));
        let named = fields.need("fields", problems).map(|item| places(item, problems));
        Some(Withhold { from: from?, fields: named? })
    });
    read.collect()
}

fn roles(item: &Item<'_>, problems: &mut Problems) -> BTreeSet<Role> {
    let words = BLINDED.map(|role| (role.as_str(), role));
    let items = item.list(ROLES.len(), problems).unwrap_or_default();
    if items.is_empty() {
        problems.at(item, "the list is empty: name at least one role");
    }
    let mut roles = BTreeSet::new();
    for item in items {
        let is_it = |role: &Role| matches!(&item.node.value, Value::Text(text) if text == role.as_str());
        match ROLES.into_iter().find(is_it).and_then(flaw_of_role) {
            Some(why) => problems.at(&item, why),
            None => roles.extend(item.one_of(&words, problems)),
        }
    }
    roles
}

fn places(item: &Item<'_>, problems: &mut Problems) -> Vec<String> {
    let named = item.texts(limits::WITHHELD_FIELDS, bounds::LINE, problems).unwrap_or_default();
    if named.is_empty() {
        problems.at(item, "the list is empty: name at least one field");
    }
    for (field, item) in &named {
        if let Some(why) = flaw_of_field(field) {
            problems.at(item, format!("`{field}` {why}"));
        }
    }
    named.into_iter().map(|(field, _)| field).collect()
}
