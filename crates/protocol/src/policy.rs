//! Calls of agents that run elsewhere, before the gates: a call as it is named, and what the gates say of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::interrupt::{Policy, Risk};

/// A call of a tool that an agent runs itself. An approval binds to it as it is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "tool": "shell", "arguments": {"command": "git push origin main"}, "workspace": "/home/me/project"
}))]
pub struct ForeignCall {
    /// The tool's full name: rules and grants compare it.
    pub tool: String,
    /// An object. `command`, `path` and `url` of it are read by rules; a call that names one of those in another way asks.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// The folder that it works in, in full. Grants are for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// The folder that its command runs in, in full. Without it: the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the file that it changes holds now. Without it: there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What the file will hold: the card shows the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What would the gates say of a call?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyCheck {
    pub call: ForeignCall,
    /// Whose grants would count. Without it: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The agent that would make it. Without it: the caller. An agent names no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// What the gates say of a call. Nothing was opened, and nothing is journalled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PolicyVerdict {
    pub verdict: VerdictWord,
    /// Why a person would be asked, or why it is forbidden, and how much is at stake.
    pub risk: Risk,
    /// What allows it: `rule` or `grant`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_by: Option<String>,
    pub policy: Policy,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictWord {
    Allow,
    Ask,
    Forbid,
}
