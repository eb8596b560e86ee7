//! Front of a session's conversation: the runs that messages started, and the agent that receives the next message. The
//! messages are in events of those runs; the session's events point at them.

use crate::id::RunId;
use crate::shared::SharedList;

/// The front of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// Front runs, oldest first. Only the last one may be live.
    pub runs: SharedList<RunId>,
    /// Agent that the next run begins with. `None`: the first agent of its workflow.
    pub agent: Option<String>,
}
