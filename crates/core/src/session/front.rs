//! Who is in front of a session's conversation: the runs that were begun by what somebody said, and the agent that
//! hears the next word. What is said stands in the events of those runs; the session's events say where.

use crate::id::RunId;
use crate::shared::SharedList;

/// The front of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Front {
    /// The front runs, oldest first. At most the last of them lives.
    pub runs: SharedList<RunId>,
    /// The agent that the next run begins with; `None`: the one that its workflow begins with.
    pub agent: Option<String>,
}
