//! Actions that the driver performs for a run, such as a tool call or a model call. The actions follow only from the
//! state of the run. If the process stops after a commit and before the action, the same state leads to the same action
//! after the restart.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Action that the driver performs for a run. Before a trial, a tool call or a model call starts, an event that records
/// the start is committed. Inspections need no such event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Inspect { call: String, revision: u32 },
    Try { call: String, attempt: u32 },
    CallTool { call: String, attempt: u32 },
    CallModel { step: String, turn: u32, attempt: u32, not_before: Option<Timestamp> },
}

/// Id of an action that the driver performs, built from the id of the tool call or step and the number of the attempt.
/// A restart of the server does not change the id of an action.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionId(String);

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Action {
    pub fn id(&self) -> ActionId {
        match self {
            Self::Inspect { call, revision } => ActionId(format!("inspect/{call}/{revision}")),
            Self::Try { call, attempt } => Self::trial_id(call, *attempt),
            Self::CallTool { call, attempt } => Self::tool_id(call, *attempt),
            Self::CallModel { step, turn, attempt, .. } => Self::model_id(step, *turn, *attempt),
        }
    }

    /// Returns the id of the action that tries a tool call on a copy of the workspace ([`Try`](Self::Try)).
    pub fn trial_id(call: &str, attempt: u32) -> ActionId {
        ActionId(format!("try/{call}/{attempt}"))
    }

    /// Returns the id of the action that executes a tool call ([`CallTool`](Self::CallTool)).
    pub fn tool_id(call: &str, attempt: u32) -> ActionId {
        ActionId(format!("tool/{call}/{attempt}"))
    }

    /// Returns the id of the action that calls a model ([`CallModel`](Self::CallModel)).
    pub fn model_id(step: &str, turn: u32, attempt: u32) -> ActionId {
        ActionId(format!("model/{step}/{turn}/{attempt}"))
    }
}
