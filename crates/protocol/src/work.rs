//! Current work of a run: each active or waiting step, its state, the reason for waiting, and the start of this state.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A step that is active or waiting, or a phase that has not begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Work {
    pub phase: String,
    /// Id of the step. Absent if the phase has no step yet or needs no step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Name of the agent. Absent if the phase has no step, or if it has not begun and does not begin with exactly one
    /// agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub state: WorkState,
    /// Names of the tools that are running. Present for `acting`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Ids of the open interrupts. Present for `waiting_for_people`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<String>,
    /// Names of the agents or phases for which the step or phase waits: agents in the states `waiting_for_agents` and
    /// `held`, phases in the state `waiting_for_phases`. Absent in all other states.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// Time at which the current state began. Absent if the phase has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Current activity of a step or a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkState {
    /// The step will continue without a person: immediately, or as soon as its model can be called again.
    Beginning,
    /// The step has sent a request to its model.
    Thinking,
    /// Tool calls of the step are running.
    Acting,
    /// The step waits for a decision or an answer of a person.
    WaitingForPeople,
    /// The step has questions for people. They are shown when all agents in `waits_for` are waiting too.
    WaitingForAgents,
    /// The step starts no new work, because another agent has an open question. It continues when that question is
    /// resolved.
    Held,
    /// The phase starts after all phases in `waits_for`.
    WaitingForPhases,
    /// The run is paused, or a person has interrupted the run.
    Resting,
}
