//! Actions of a run on the outside world. Every action is derived only from the state of the run. After a crash
//! between commit and action, the same action is derived again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Action on the outside world. Trials, tool calls and model calls start only after a committed `begin`; inspections
/// need no `begin`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Inspect { call: String, revision: u32 },
    Try { call: String, attempt: u32 },
    CallTool { call: String, attempt: u32 },
    CallModel { step: String, turn: u32, attempt: u32, not_before: Option<Timestamp> },
}

/// Id of an action. The id consists of the id of the call or step and the number of the attempt, so the id is the
/// same after a restart.
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

    /// Returns the id of [`Try`](Self::Try).
    pub fn trial_id(call: &str, attempt: u32) -> ActionId {
        ActionId(format!("try/{call}/{attempt}"))
    }

    /// Returns the id of [`CallTool`](Self::CallTool).
    pub fn tool_id(call: &str, attempt: u32) -> ActionId {
        ActionId(format!("tool/{call}/{attempt}"))
    }

    /// Returns the id of [`CallModel`](Self::CallModel).
    pub fn model_id(step: &str, turn: u32, attempt: u32) -> ActionId {
        ActionId(format!("model/{step}/{turn}/{attempt}"))
    }
}
