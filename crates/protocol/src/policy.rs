//! Policy checks of calls that agents run elsewhere: the call, and the verdict of the gates.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::interrupt::{Policy, Risk};

/// A tool call that an agent runs itself. An approval binds to the call as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "tool": "shell", "arguments": {"command": "git push origin main"}, "workspace": "/home/me/project"
}))]
pub struct ForeignCall {
    /// Full name of the tool. Rules and grants compare it.
    pub tool: String,
    /// An object. Rules read `command`, `path` and `url`. A call that has one of these under another name always
    /// asks.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Absolute path of the call's workspace. A grant covers one workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Absolute path of the working directory of the command. Defaults to the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Current text of the file that the call changes. Without it the file does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Text of the file after the call. The card shows the difference.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Request for the verdict of the gates on a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyCheck {
    pub call: ForeignCall,
    /// Session whose grants apply. Without it no grant applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Agent that would make the call. Defaults to the caller. An agent may name only itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Verdict of the gates on a call. The check opens no interrupt and writes no event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PolicyVerdict {
    pub verdict: VerdictWord,
    /// Risk of the call, with the reasons to ask a person or to forbid it.
    pub risk: Risk,
    /// `rule` or `grant`, whichever allows the call. Absent if it is not allowed.
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
