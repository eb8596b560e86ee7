//! Current work of a run: the active and the waiting steps, what each waits for, and since when.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A step that is active or waits, or a phase that has not begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Work {
    pub phase: String,
    /// Absent if the phase has no step yet, or needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Absent if the phase has not begun and does not begin with a single agent, or if it has no step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub state: WorkState,
    /// Names of the running tools. Present for `acting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Ids of the open interrupts. Present for `waiting_for_people`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<String>,
    /// Agents for `waiting_for_agents` and `held`, phases for `waiting_for_phases`. Absent otherwise.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// Time at which this state began. Absent if the phase has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Activity of a step or a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkState {
    /// The step continues by itself: at once, or as soon as its model can be called again.
    Beginning,
    /// A request to its model is in flight.
    Thinking,
    /// Its tool calls run.
    Acting,
    /// A person must decide or answer.
    WaitingForPeople,
    /// Its questions are kept back until the agents in `waits_for` cannot continue either.
    WaitingForAgents,
    /// A question of another agent is open, and no other agent begins anything until it is resolved.
    Held,
    /// The phases in `waits_for` come first.
    WaitingForPhases,
    /// The run is paused, or a person has interrupted it.
    Resting,
}
