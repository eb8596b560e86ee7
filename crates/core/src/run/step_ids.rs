//! Ids of steps that follow from another step, a call or a subtask.

use crate::definition::Phase;

/// Returns the id of the step that sums up the turns of another step. It is unique, because names of phases hold no
/// colon.
pub(super) fn summarising(step: &str, until: u32) -> String {
    format!("summarise:{step}:{until}")
}

/// Returns the id of the step whose turns the step of this id sums up.
pub(super) fn summarised(id: &str) -> Option<String> {
    Some(id.strip_prefix("summarise:")?.rsplit_once(':')?.0.to_owned())
}

/// Returns the id of the step that judges a call. It is unique, because names of phases hold no colon.
pub(super) fn judging(call: &str) -> String {
    format!("oversee:{call}")
}

/// Returns the id of the step that carries out a subtask.
pub(super) fn carrying_out(phase: &Phase, subtask: &str) -> String {
    format!("{}/{subtask}", phase.id)
}
