//! Brings decisions into a normal form, so that equal decisions of two people are equal votes. An edit that changes
//! nothing becomes an approval, and a list of selected paths is sorted.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::interrupt::{About, Decision, Effect, Interrupt, Kind};
use crate::json;
use crate::plan::Plan;
use crate::strict::Strict;

/// Returns a decision on an interrupt in its normal form. The normal form depends only on the decision and on the
/// content of the interrupt, and this content never changes. If a decision is repeated, its normal form is therefore
/// the same.
pub(super) fn as_it_counts(interrupt: &Interrupt, decision: &Decision) -> Decision {
    let edit = json::as_read_again(decision.edit.clone());
    let decision = &Decision { edit, ..decision.clone() };
    if interrupt.offers(&decision.option).is_some_and(|offer| offer.effect == Effect::ProceedWithSome) {
        return Decision { edit: in_order(&decision.edit), ..decision.clone() };
    }
    if let Some(edit) = data_in_words(interrupt, decision) {
        return Decision { edit: json::as_read_again(edit), text: None, ..decision.clone() };
    }
    let approves = decision.option == "edit"
        && interrupt.offers("approve").is_some()
        && changes_nothing(interrupt, &decision.edit);
    if !approves {
        return decision.clone();
    }
    Decision { option: "approve".to_owned(), edit: Value::Null, ..decision.clone() }
}

/// Parses the text of an answer as JSON data, because some clients can send only text. Applies only to questions of
/// Holdshort's own agents. External agents use clients that can send data.
fn data_in_words(interrupt: &Interrupt, decision: &Decision) -> Option<Value> {
    let offer = interrupt.offers(&decision.option)?;
    let is_own = interrupt.opened.about != About::External;
    let takes_data = is_own && interrupt.opened.kind == Kind::Question && offer.needs_edit;
    let words = decision.text.as_deref().filter(|_| takes_data && decision.edit.is_null())?;
    serde_json::from_str(words)
        .ok()
        .filter(|data: &Value| !data.is_null() && json::unsafe_part(data).is_none())
}

/// Sorts a list of names in a decision's edit and removes duplicates. Returns any other value unchanged, and a later
/// check rejects such a value.
fn in_order(edit: &Value) -> Value {
    BTreeSet::<String>::deserialize(edit).map_or_else(|_| edit.clone(), |names| names.into_iter().collect())
}

fn changes_nothing(interrupt: &Interrupt, edit: &Value) -> bool {
    interrupt.replaced().is_some_and(|shown| {
        shown == edit || (interrupt.opened.kind == Kind::PlanApproval && is_same_plan(shown, edit))
    })
}

/// Returns true if the plan in a decision's edit is equal to the plan that the interrupt showed. An empty `depends_on`
/// and a missing `depends_on` are equal.
fn is_same_plan(shown: &Value, edit: &Value) -> bool {
    let read = |plan| Plan::deserialize(Strict(plan)).ok();
    read(shown).is_some_and(|shown| read(edit) == Some(shown))
}
