//! Front of a session's conversation: the runs that were started by messages, and the agent that gets the next message.
//! Events of these runs contain the messages. Events of the session only refer to the messages.

use crate::id::RunId;
use crate::shared::SharedList;

/// Runs of a conversation that were started by messages, and the agent that gets the next message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// Runs that were started by messages, the oldest first. Only the last of them can be active.
    pub runs: SharedList<RunId>,
    /// Agent with which the next run begins. If `None`, the next run begins with the first agent of the workflow.
    pub agent: Option<String>,
}
