//! One decision in one form: an edit that changes nothing is an approval of what was shown, and a list of what is kept has
//! an order. So two people who mean the same say the same.

use std::collections::BTreeSet;

use serde::Deserialize;
use serde_json::Value;

use crate::interrupt::{Decision, Effect, Interrupt, Kind};
use crate::plan::Plan;
use crate::strict::Strict;

/// The decision as it counts. It is compared with what the interrupt shows, which stays what it was: the same
/// decision again is the same again.
pub(super) fn as_it_counts(interrupt: &Interrupt, decision: &Decision) -> Decision {
    if interrupt.offers(&decision.option).is_some_and(|offer| offer.effect == Effect::ProceedWithSome) {
        return Decision { edit: in_order(&decision.edit), ..decision.clone() };
    }
    let approves = decision.option == "edit"
        && interrupt.offers("approve").is_some()
        && changes_nothing(interrupt, &decision.edit);
    if !approves {
        return decision.clone();
    }
    Decision { option: "approve".to_owned(), edit: Value::Null, ..decision.clone() }
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
