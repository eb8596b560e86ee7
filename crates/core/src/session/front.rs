//! Front of a session's conversation: the runs that messages started, and the agent that receives the next message.
//! Events of these runs contain the messages. Events of the session only refer to the messages.

use crate::id::RunId;
use crate::shared::SharedList;

/// Front of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// Front runs, the oldest first. Only the last front run may be live.
    pub runs: SharedList<RunId>,
    /// Agent with which the next run begins. If `None`, the next run begins with the first agent of the workflow.
    pub agent: Option<String>,
}
