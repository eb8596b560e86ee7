//! Approvers of a request, the votes cast, the votes still missing, and the answer to "may the client's user decide?".
//! Edges whose protocol has its own format for requests send this information both as data and as text.

use holdshort_core::interrupt::Interrupt;
use holdshort_core::run::{Fact, Run};
use holdshort_web::view::assignment::{Assigned, Reader};
use serde_json::{Value, json};

pub(crate) struct AssignmentSummary {
    /// The assignment of an interrupt in the format of the native API, with two added members: `votes`, and
    /// `interrupt`, the id of the interrupt.
    pub(crate) data: Value,
    /// The approvers and votes of an interrupt as text for people, one fact per line.
    pub(crate) words: String,
}

pub(crate) fn summarize(interrupt: &Interrupt) -> Option<AssignmentSummary> {
    let assigned = Assigned::from_interrupt(interrupt);
    let lines = assigned.lines();
    if lines.is_empty() {
        return None;
    }
    let words: Vec<String> =
        lines.into_iter().map(|(line, text)| format!("{}: {text}", line.label())).collect();
    let mut data = json!(assigned.assignment);
    data["votes"] = json!(assigned.votes);
    data["interrupt"] = json!(interrupt.opened.interrupt.as_str());
    Some(AssignmentSummary { data, words: words.join("\n") })
}

/// Adds the member `you`, which says whether the reader may decide on an interrupt of this run. `data` is the value of
/// [`AssignmentSummary::data`] for this interrupt.
pub(crate) fn add_reader_right(data: &mut Value, run: &Run, reader: &Reader) {
    let id = data["interrupt"].as_str().and_then(|id| id.parse().ok());
    let Some(interrupt) = id.and_then(|id| run.interrupts.get(&id)) else { return };
    if let Some(you) = reader.you(interrupt, run.begun_by()) {
        data["you"] = json!(you);
    }
}

/// Returns the open interrupt whose votes or approvers an event has changed.
pub(crate) fn find_changed_interrupt<'r>(run: &'r Run, fact: &Fact) -> Option<&'r Interrupt> {
    let (id, is_vote) = match fact {
        Fact::DecisionMade { interrupt, .. } => (interrupt, true),
        Fact::VoteWithdrawn { interrupt, .. }
        | Fact::InterruptReassigned { interrupt, .. }
        | Fact::InterruptDelegated { interrupt, .. }
        | Fact::InterruptEscalated { interrupt, .. } => (interrupt, false),
        _ => return None,
    };
    let interrupt = run.interrupts.get(id)?;
    // A vote that resolves the interrupt is not reported here: another event reports the resolution.
    (interrupt.is_open() && !(is_vote && interrupt.settles().is_some())).then_some(interrupt)
}
