//! Settings of an MCP server: time limits, and what it knows about the machine of the agent.

use std::time::Duration;

use crate::limits::{MCP_EXPIRES_IN, MCP_PENDING_AFTER, MCP_PERMISSION_WAIT};

/// Settings of an MCP server.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// Time after which a call returns `pending`.
    pub pending_after: Duration,
    /// Time for which `permission` waits.
    pub permission_wait: Duration,
    /// Time after which a request expires.
    pub expires_in: Duration,
    /// Absolute path of the agent's folder, if the server runs on the agent's machine.
    pub workspace: Option<String>,
    /// Returns the target of a path that has links. `None`: the path has no link, or the server cannot know.
    pub link_target: fn(&str) -> Option<String>,
    /// True if the server can send requests to the client while a call waits.
    pub elicits: bool,
}

impl Default for McpSettings {
    fn default() -> Self {
        Self {
            pending_after: MCP_PENDING_AFTER,
            permission_wait: MCP_PERMISSION_WAIT,
            expires_in: MCP_EXPIRES_IN,
            workspace: None,
            link_target: |_| None,
            elicits: false,
        }
    }
}
