//! One decision in one form: an edit that changes nothing is an approval of what was shown, and a list of what is kept has
//! an order. So two people who mean the same say the same.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::interrupt::{About, Decision, Effect, Interrupt, Kind};
use crate::json;
use crate::plan::Plan;
use crate::strict::Strict;

/// The decision as it counts. It is compared with what the interrupt shows, which stays what it was: the same
/// decision again is the same again.
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

/// An answer of data to an agent of ours, from a client that can send words alone: they are the data where they are
/// JSON. Agents of other frameworks ask clients that know what an edit is.
fn data_in_words(interrupt: &Interrupt, decision: &Decision) -> Option<Value> {
    let offer = interrupt.offers(&decision.option)?;
    let is_own = interrupt.opened.about != About::External;
    let takes_data = is_own && interrupt.opened.kind == Kind::Question && offer.needs_edit;
    let words = decision.text.as_deref().filter(|_| takes_data && decision.edit.is_null())?;
    serde_json::from_str(words)
        .ok()
        .filter(|data: &Value| !data.is_null() && json::unsafe_part(data).is_none())
}

/// Names in their order, each once. What is no list of names is refused as it is.
fn in_order(edit: &Value) -> Value {
    BTreeSet::<String>::deserialize(edit).map_or_else(|_| edit.clone(), |names| names.into_iter().collect())
}

fn changes_nothing(interrupt: &Interrupt, edit: &Value) -> bool {
    interrupt.replaced().is_some_and(|shown| {
        shown == edit || (interrupt.opened.kind == Kind::PlanApproval && is_same_plan(shown, edit))
    })
}

/// One with an empty `depends_on` is the same plan as one without.
fn is_same_plan(shown: &Value, edit: &Value) -> bool {
    let read = |plan| Plan::deserialize(Strict(plan)).ok();
    read(shown).is_some_and(|shown| read(edit) == Some(shown))
}
