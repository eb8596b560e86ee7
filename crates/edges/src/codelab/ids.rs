//! Ids in the form that clients receive. Each id is derived from an id of Holdshort, so no mapping is stored.

use holdshort_core::digest::Digest;
use holdshort_core::id::{InterruptId, RunId};

/// Returns the id of a plan: `plan_` and 8 hexadecimal digits (contract B6). The id is derived from the interrupt that
/// asks about this plan.
pub(super) fn plan(interrupt: &InterruptId) -> String {
    plan_of(&[interrupt.as_str()])
}

/// Returns the id of a plan that was not sent to a person for approval.
pub(super) fn unasked_plan(run: &RunId, phase: &str) -> String {
    plan_of(&[run.as_str(), "/", phase])
}

fn plan_of(parts: &[&str]) -> String {
    let digest = Digest::of_bytes(parts.concat().as_bytes()).to_string();
    format!("plan_{}", &digest[..8])
}

/// Returns the id of a call in the form that clients receive. The id includes the id of the run, because calls are
/// numbered within their run, but the ids that clients receive must be unique in the session (lesson 3).
pub(super) fn call(run: &RunId, call: &str) -> String {
    format!("{run}-{call}")
}

/// Converts a client's id of a call to the id of the same call within `run`. Returns `None` if the call belongs to a
/// different run.
pub(super) fn call_of<'a>(run: &RunId, id: &'a str) -> Option<&'a str> {
    id.strip_prefix(run.as_str())?.strip_prefix('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_made_from_ours_and_found_again() {
        let run: RunId = "run_01k6f0000000000000000000aa".parse().unwrap();
        let id = call(&run, "call_7");
        assert_eq!(id, "run_01k6f0000000000000000000aa-call_7");
        assert_eq!(call_of(&run, &id), Some("call_7"));
        for other in ["", "call_7", "run_01k6f0000000000000000000ab-call_7", "run_01k6f0000000000000000000aa"]
        {
            assert_eq!(call_of(&run, other), None, "{other}");
        }
        let interrupt: InterruptId = "int_01k6f0000000000000000000cc".parse().unwrap();
        let plan = plan(&interrupt);
        assert!(plan.len() == 13 && plan.starts_with("plan_"), "{plan}");
    }
}
