//! Check of an external agent's tool call against the policy: the call, and the verdict.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::interrupt::{Policy, Risk};

/// Tool call that an external agent runs itself. An approval is valid for exactly this call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "tool": "shell", "arguments": {"command": "git push origin main"}, "workspace": "/home/me/project"
}))]
pub struct ForeignCall {
    /// Full name of the tool. Rules and grants are matched against this name.
    pub tool: String,
    /// Arguments of the call, as an object. Rules read the members `command`, `path` and `url`. A call with a command,
    /// path or URL under another name always needs a decision of a person.
    #[schema(value_type = Object)]
    pub arguments: Value,
    /// Absolute path of the workspace of the call. A grant is limited to one workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Absolute path of the working directory of the command. Defaults to the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Text of the file before the call. Absent if the call creates the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Text of the file after the call. The card shows the difference to `before`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Request for the verdict of the policy on a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyCheck {
    pub call: ForeignCall,
    /// Id of the session whose grants apply. Without a session, no grant applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Name of the agent that would make the call. Defaults to the caller. An agent is allowed to name only itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

/// Verdict of the policy on a call. The check opens no interrupt and writes no event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct PolicyVerdict {
    pub verdict: VerdictWord,
    /// Risk of the call, with the reasons why the call needs a decision or is forbidden.
    pub risk: Risk,
    /// Source of the permission: `rule` or `grant`. Absent if the verdict is not `allow`.
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
