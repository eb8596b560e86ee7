//! Who is asked, who has decided, who is missing, and whether the client may: as data and in words, for wires whose
//! requests have a form of their own.

use holdshort_core::interrupt::Interrupt;
use holdshort_core::run::{Fact, Run};
use holdshort_web::view::assignment::{Assigned, Reader};
use serde_json::{Value, json};

/// What a request says of it; `None` where any one admin or operator decides, as usual: then there is nothing to say.
pub(crate) struct Told {
    /// As the native API has it, with `votes` and the id of the interrupt.
    pub(crate) data: Value,
    /// A line each.
    pub(crate) words: String,
}

pub(crate) fn of(interrupt: &Interrupt) -> Option<Told> {
    let assigned = Assigned::of(interrupt);
    let lines = assigned.lines();
    if lines.is_empty() {
        return None;
    }
    let words: Vec<String> =
        lines.into_iter().map(|(line, text)| format!("{}: {text}", line.label())).collect();
    let mut data = json!(assigned.assignment);
    data["votes"] = json!(assigned.votes);
    data["interrupt"] = json!(interrupt.opened.interrupt.as_str());
    Some(Told { data, words: words.join("\n") })
}

/// Adds whether whoever is told may decide. `data`: what [`of`] gave, of an interrupt of this run.
pub(crate) fn tell_you(data: &mut Value, run: &Run, reader: &Reader) {
    let id = data["interrupt"].as_str().and_then(|id| id.parse().ok());
    let Some(interrupt) = id.and_then(|id| run.interrupts.get(&id)) else { return };
    if let Some(you) = reader.you(interrupt, run.begun_by()) {
        data["you"] = json!(you);
    }
}

/// What waits on and has other votes since this event, or asks others.
pub(crate) fn changed<'r>(run: &'r Run, fact: &Fact) -> Option<&'r Interrupt> {
    let (id, is_vote) = match fact {
        Fact::DecisionMade { interrupt, .. } => (interrupt, true),
        Fact::VoteWithdrawn { interrupt, .. }
        | Fact::InterruptReassigned { interrupt, .. }
        | Fact::InterruptDelegated { interrupt, .. }
        | Fact::InterruptEscalated { interrupt, .. } => (interrupt, false),
        _ => return None,
    };
    let interrupt = run.interrupts.get(id)?;
    // Of the vote that settles it the resolution tells.
    (interrupt.is_open() && !(is_vote && interrupt.settles().is_some())).then_some(interrupt)
}
