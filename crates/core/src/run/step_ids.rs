//! Ids of steps that follow from another step, a call or a subtask.

use crate::definition::Phase;

/// Id of the step that sums up the turns of another one. No phase's name holds a colon: it is nobody else's.
pub(super) fn summarising(step: &str, until: u32) -> String {
    format!("summarise:{step}:{until}")
}

/// Id of the step whose turns the step of this id sums up.
pub(super) fn summarised(id: &str) -> Option<String> {
    Some(id.strip_prefix("summarise:")?.rsplit_once(':')?.0.to_owned())
}

/// Id of the step that judges a call. No phase's name holds a colon: it is nobody else's.
pub(super) fn judging(call: &str) -> String {
    format!("oversee:{call}")
}

/// Id of the step that carries out a subtask.
pub(super) fn carrying_out(phase: &Phase, subtask: &str) -> String {
    format!("{}/{subtask}", phase.id)
}
