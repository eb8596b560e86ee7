//! Ids of steps that are computed from the id of another step, a call or a subtask.

use crate::definition::Phase;

/// Returns the id of the step that summarises the turns of `step` up to `until`. The id is unique, because names of
/// phases contain no colon.
pub(super) fn summarising(step: &str, until: u32) -> String {
    format!("summarise:{step}:{until}")
}

/// Returns the id of the step whose turns the summarising step `id` summarises. `None` if `id` is not the id of a
/// summarising step.
pub(super) fn summarised(id: &str) -> Option<String> {
    Some(id.strip_prefix("summarise:")?.rsplit_once(':')?.0.to_owned())
}

/// Returns the id of the step that judges a tool call. The id is unique, because names of phases contain no colon.
pub(super) fn judging(call: &str) -> String {
    format!("oversee:{call}")
}

/// Returns the id of the step that carries out a subtask of a plan in the phase `phase`.
pub(super) fn carrying_out(phase: &Phase, subtask: &str) -> String {
    format!("{}/{subtask}", phase.id)
}
