//! Approvals of agents that run elsewhere: what was approved, by its digest, and that it is used once.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::interrupt::{Interrupt, Kind};
use crate::plain;

/// What was approved for an agent that runs elsewhere, and whether it was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Approval {
    /// SHA-256 of what was approved, as canonical JSON (RFC 8785). Whoever uses the approval sends it.
    pub digest: String,
    /// What was approved, where a person edited it: the payload with the edit in its place.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub approved: Value,
    /// From then on it can not be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub usable_until: Option<String>,
    /// Absent: not used yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<ApprovalUse>,
}

impl Approval {
    /// Whether it was used, in a few words. Times are as they are written on the wire.
    pub fn words(&self) -> String {
        match (&self.used, &self.usable_until) {
            (Some(ApprovalUse { at, by }), _) => format!("used at {at} by {}", plain::line(by)),
            (None, Some(until)) => format!("not used yet; it can be used until {until}"),
            (None, None) => "not used yet".to_owned(),
        }
    }
}

impl Interrupt {
    /// Whether its approval was used, where that is worth saying: a call is used up by the agent that makes it; of anything
    /// else nobody has to say that it was done.
    pub fn approval_words(&self) -> Option<String> {
        let is_worth_it = |approval: &&Approval| {
            self.kind == Kind::ToolApproval || approval.used.is_some() || approval.usable_until.is_some()
        };
        self.approval.as_ref().filter(is_worth_it).map(Approval::words)
    }
}

/// That an approval was used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalUse {
    #[schema(format = DateTime)]
    pub at: String,
    pub by: String,
}

/// An agent does now what was approved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"digest": "5e4dd42b0ca9a3a2b2be6b0f0a2ff6f1a38aeb5c7b8a0a0b6d5ce0e0a1b4c3d2"}))]
pub struct UseApproval {
    /// SHA-256 of what is about to be done, as canonical JSON (RFC 8785): the payload that was asked about, or what a
    /// person made of it.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
}

/// An approval that is used with this answer, and with no other.
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
    /// What was approved: do this, and nothing else.
    #[schema(value_type = Value)]
    pub approved: Value,
    #[schema(format = DateTime)]
    pub used_at: String,
    pub by: String,
}

/// An interrupt of an agent's own that was resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentDecision {
    /// Where it stands among all: the `cursor` and the `Last-Event-ID` to go on from.
    pub position: String,
    pub interrupt: Interrupt,
}
