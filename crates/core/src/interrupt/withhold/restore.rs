//! Edits by people who are not allowed to see all values. This module puts the hidden values back into such an edit.
//!
//! In the edit, a placeholder (*mark*) must stand for each hidden value. If a mark is missing, moved or duplicated, the
//! edit is rejected, because it would change a value that the person is not allowed to see.

use std::collections::BTreeSet;

use serde_json::Value;

use super::payload::mark;
use super::{cover, sees_as};
use crate::interrupt::{Decision, Effect, Interrupt, Voter};
use crate::schema::Problem;

impl Interrupt {
    /// Returns the edit, with the hidden values instead of their placeholders (*marks*). `None` if the edit contains no
    /// marks.
    pub fn restored(&self, voter: &Voter<'_>, decision: &Decision) -> Result<Option<Value>, Vec<Problem>> {
        let rules = &self.opened.withhold;
        if rules.is_empty() {
            return Ok(None);
        }
        let hidden = self.withheld_from(sees_as(&voter.actor.id, voter.actor.role, voter.people));
        let is_limited = !hidden.is_empty();
        // A person who sees all values may send an edit with marks that was copied from the view of a person who does
        // not see them.
        let every: Vec<&str> = rules.iter().flat_map(|rule| &rule.fields).map(String::as_str).collect();
        let patterns = if is_limited { &hidden } else { &every };
        let known = self.cover(patterns);
        let effect = self.offers(&decision.option).map(|offer| offer.effect);
        if is_limited && !known.places.is_empty() && effect.is_some_and(Effect::is_of_what_is_made) {
            let message =
                "depends on values that are withheld from you: approve only this call, or reject it";
            return Err(vec![Problem::new("/option", message)]);
        }
        let takes_edit = self.opened.kind.row().edits.is_some() && effect != Some(Effect::ProceedWithSome);
        if decision.edit.is_null() || !takes_edit {
            return Ok(None);
        }
        let sent = self.as_payload(decision.edit.clone());
        let mut marks = Vec::new();
        marks_of(String::new(), &sent, &mut marks);
        let of = match marks.first() {
            Some((_, mark)) => mark.get("edit_of").and_then(Value::as_u64),
            None => None,
        };
        let (source, hidden_there) = match of {
            None => (self.payload(), known.places.clone()),
            Some(seq) => {
                let vote = self.votes.iter().find(|vote| vote.seq == seq && !vote.edit.is_null());
                let Some(vote) = vote else {
                    let message = format!(
                        "contains marks that stand for withheld values of the edit {seq}, which no longer \
                        exists: read the interrupt again"
                    );
                    return if is_limited { Err(vec![Problem::new("/edit", message)]) } else { Ok(None) };
                };
                let places = self.edit_places(vote, &known, patterns, voter.people);
                (self.as_payload(vote.edit.clone()), places)
            }
        };
        let member = self.edited_member().map(|member| format!("/{member}")).unwrap_or_default();
        let withheld: BTreeSet<String> = hidden_there
            .into_iter()
            // If the complete payload is withheld, the member that an edit replaces is withheld, too.
            .map(|place| if place.is_empty() { member.clone() } else { place })
            .filter(|place| member.is_empty() || *place == member || place.starts_with(&format!("{member}/")))
            .collect();
        let at = |place: &str| format!("/edit{}", place.strip_prefix(&member).unwrap_or(place));
        let mut problems = Vec::new();
        let mut restored = sent.clone();
        for (place, found) in &marks {
            let says = found.get("withheld").and_then(Value::as_str).unwrap_or_default();
            // The data is not a mark and only has the form of a mark.
            if !withheld.contains(says) {
                continue;
            }
            if says != place || **found != mark(place, of) {
                let message = format!("this mark stands for the value at `{says}`: keep the mark there");
                problems.push(Problem::new(at(place), message));
            }
        }
        for place in &withheld {
            let is_marked = sent.pointer(place) == Some(&mark(place, of));
            if is_marked {
                if let (Some(there), Some(value)) = (restored.pointer_mut(place), source.pointer(place)) {
                    *there = value.clone();
                }
            } else if is_limited {
                let message = format!("is withheld from you: keep {} where it is", mark(place, of));
                problems.push(Problem::new(at(place), message));
            }
        }
        if is_limited {
            let named = cover::places(&sent, patterns, &BTreeSet::new());
            let added = named.iter().filter(|place| !withheld.contains(*place));
            let inside = |place: &str| withheld.iter().any(|outer| place.starts_with(&format!("{outer}/")));
            let message = "cannot be set by you: it is withheld from you";
            problems
                .extend(added.filter(|place| !inside(place)).map(|place| Problem::new(at(place), message)));
        }
        if problems.is_empty() { Ok(Some(self.as_edit(restored))) } else { Err(problems) }
    }
}

/// Collects the JSON pointers to placeholders (*marks*), and to other data that looks like a placeholder.
fn marks_of<'v>(at: String, value: &'v Value, found: &mut Vec<(String, &'v Value)>) {
    let is_mark = |members: &serde_json::Map<String, Value>| {
        members.get("withheld").is_some_and(Value::is_string)
            && members.keys().all(|name| name == "withheld" || name == "edit_of")
    };
    match value {
        Value::Object(members) if is_mark(members) => found.push((at, value)),
        Value::Object(members) => {
            for (name, child) in members {
                marks_of(format!("{at}/{}", super::pointers::escaped(name)), child, found);
            }
        }
        Value::Array(items) => {
            for (i, child) in items.iter().enumerate() {
                marks_of(format!("{at}/{i}"), child, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
