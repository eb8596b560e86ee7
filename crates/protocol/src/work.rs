//! Who works on a run now, who waits for whom, and since when.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A step of a run that is at work or waits, or a phase that has not begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Work {
    pub phase: String,
    /// Left out: the phase has no step yet, or needs none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Left out where no single agent will begin with the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub state: WorkState,
    /// Of `acting`: the tools that run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
    /// Of `waiting_for_people`: the open interrupts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<String>,
    /// Of `waiting_for_agents` and `held` agents, of `waiting_for_phases` phases.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waits_for: Vec<String>,
    /// Since when it is so. Left out where it has not begun.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// What a part of a run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkState {
    /// It does the next thing by itself, at once or when its model can be asked again.
    Beginning,
    /// Its model is asked.
    Thinking,
    /// Its calls run.
    Acting,
    /// A person has to speak.
    WaitingForPeople,
    /// Its questions are kept back until the others can not go on, either.
    WaitingForAgents,
    /// A question of others is open, and nobody else begins anything meanwhile.
    Held,
    /// Other phases come first.
    WaitingForPhases,
    /// The run is paused, or a person has interrupted it.
    Resting,
}
