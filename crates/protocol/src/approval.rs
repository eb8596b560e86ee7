//! Approvals for agents that run outside Holdshort. Each approval is bound to a digest and can be used once.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::interrupt::{Interrupt, Kind};
use crate::plain;

/// Approval for an agent that runs outside Holdshort, and the record of its use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// SHA-256 of the approved payload as canonical JSON (RFC 8785). The agent sends this digest to use the approval.
    pub digest: String,
    /// The approved payload after a person's edit. Absent if no person edited the payload.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub approved: Value,
    /// Time after which the approval cannot be used. Absent if the approval does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub usable_until: Option<String>,
    /// Record of the use. Absent if the approval was not used yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ApprovalUse>,
}

impl Approval {
    /// Returns a phrase that says if the approval was used. Timestamps have the format of RFC 3339.
    pub fn describe(&self) -> String {
        match (&self.used, &self.usable_until) {
            (Some(ApprovalUse { at, by }), _) => format!("used at {at} by {}", plain::line(by)),
            (None, Some(until)) => format!("not used yet; it can be used until {until}"),
            (None, None) => "not used yet".to_owned(),
        }
    }
}

impl Interrupt {
    /// Returns a phrase that says if the approval was used. Returns `None` if the request is not a tool call and its
    /// approval neither was used nor can expire.
    pub fn approval_words(&self) -> Option<String> {
        let is_worth_it = |approval: &&Approval| {
            self.kind == Kind::ToolApproval || approval.used.is_some() || approval.usable_until.is_some()
        };
        self.approval.as_ref().filter(is_worth_it).map(Approval::describe)
    }
}

/// Record of the use of an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalUse {
    #[schema(format = DateTime)]
    pub at: String,
    pub by: String,
}

/// Request of an agent to use an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"digest": "5e4dd42b0ca9a3a2b2be6b0f0a2ff6f1a38aeb5c7b8a0a0b6d5ce0e0a1b4c3d2"}))]
pub struct UseApproval {
    /// SHA-256 of the payload that the agent is about to carry out, as canonical JSON (RFC 8785). If a person has
    /// edited the payload, hash the edited version.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
}

/// The approval that the request has used. It cannot be used again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupt": "int_01k6f0000000000000000000cc",
    "digest": "5e4dd42b0ca9a3a2b2be6b0f0a2ff6f1a38aeb5c7b8a0a0b6d5ce0e0a1b4c3d2",
    "approved": {"tool": "git", "arguments": {"branches": 41}},
    "used_at": "2026-01-31T09:31:00.000Z", "by": "cleaner"
}))]
pub struct UsedApproval {
    pub interrupt: String,
    pub digest: String,
    /// The approved payload. Carry out exactly this payload.
    #[schema(value_type = Value)]
    pub approved: Value,
    #[schema(format = DateTime)]
    pub used_at: String,
    pub by: String,
}

/// A resolved interrupt of the agent that sends the request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentDecision {
    /// Position of the decision in the order of all decisions. Send it as `cursor` or `Last-Event-ID` to continue after
    /// this decision.
    pub position: String,
    pub interrupt: Interrupt,
}
