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
    /// Outcome of writing the changes that the trial of the call found. Present after the approval was used, if the
    /// call had a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exec: Option<ExecReport>,
}

impl Approval {
    /// Returns a phrase that says if the approval was used. Timestamps have the format of RFC 3339.
    pub fn describe(&self) -> String {
        match (&self.used, &self.usable_until) {
            (Some(ApprovalUse { at, by }), _) => {
                let exec = self.exec.as_ref().map(ExecReport::describe).unwrap_or_default();
                format!("used at {at} by {}{exec}", plain::line(by))
            }
            (None, Some(until)) => format!("not used yet; it can be used until {until}"),
            (None, None) => "not used yet".to_owned(),
        }
    }
}

impl Interrupt {
    /// Returns a phrase that says if the approval was used. Returns `None` if there is no approval. Also returns `None`
    /// for an unused approval that never expires, except for a tool call.
    pub fn approval_words(&self) -> Option<String> {
        let is_worth_it = |approval: &&Approval| {
            self.kind == Kind::ToolApproval || approval.used.is_some() || approval.usable_until.is_some()
        };
        self.approval.as_ref().filter(is_worth_it).map(Approval::describe)
    }
}

/// Record of the use of an approval: the time, and the agent that used it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ApprovalUse {
    #[schema(format = DateTime)]
    pub at: String,
    pub by: String,
}

/// Outcome of writing the changes that an agent received with its approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ExecReport {
    pub outcome: ExecOutcome,
    /// Reason why the changes were not written, as the agent's program reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Outcome of writing the changes that the approval released to the agent. `unknown` means that no report has arrived:
/// the agent's program may have stopped before, during or after the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExecOutcome {
    Done,
    Nothing,
    Halfway,
    Unknown,
}

impl ExecReport {
    /// Returns a phrase about this outcome. It is appended to the sentence that says when the approval was used.
    fn describe(&self) -> String {
        let what = match self.outcome {
            ExecOutcome::Done => "; all changes were written",
            ExecOutcome::Nothing => "; nothing was written",
            ExecOutcome::Halfway => "; only some of the changes were written",
            ExecOutcome::Unknown => "; it is unknown whether the changes were written: check the files",
        };
        let why = self.text.as_deref().map(|text| format!(": {}", plain::line(text))).unwrap_or_default();
        format!("{what}{why}")
    }
}

/// Report of an agent about the changes that it got with its approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"outcome": "done"}))]
pub struct ReportExec {
    /// Outcome of the write: `done`, `nothing` (nothing was written) or `halfway` (only a part was written).
    pub outcome: ExecOutcome,
    /// Reason why the changes were not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Changes and output of a call that ran as a trial. The agent now writes the changes itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReleasedTrial {
    /// Changes to write, in the order of their paths. Read the new content of a file with
    /// `GET /v1/interrupts/{id}/bodies/{digest}`.
    #[schema(value_type = Vec<Object>)]
    pub changeset: Value,
    /// Paths whose changes the approver did not approve.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// Output of the command on standard output, in base64.
    pub stdout: String,
    /// Output of the command on standard error, in base64.
    pub stderr: String,
    pub exit_code: i32,
    /// Folder in which the trial ran.
    pub folder: String,
    /// Device and inode of the folder, as `DEVICE:INODE`.
    pub root: String,
}

/// Request of an agent to use an approval.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"digest": "5e4dd42b0ca9a3a2b2be6b0f0a2ff6f1a38aeb5c7b8a0a0b6d5ce0e0a1b4c3d2"}))]
pub struct UseApproval {
    /// SHA-256 of the payload that the agent is about to carry out, as canonical JSON (RFC 8785). If a person has
    /// edited the payload, hash the edited version.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    pub digest: String,
    /// Secret that the agent chose for a trial, and whose SHA-256 it sent as `exec_digest`. Required if the call ran as
    /// a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(write_only)]
    pub exec: Option<String>,
}

impl std::fmt::Debug for UseApproval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UseApproval").field("digest", &self.digest).finish_non_exhaustive()
    }
}

/// Approval that the request has just used. It cannot be used again.
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
    /// Changes and output of the call. Present if the call ran as a trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<ReleasedTrial>,
}

/// Resolved interrupt of an external agent, as one item of the feed of decisions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct AgentDecision {
    /// Position of the decision in the order of all decisions. Send it as `cursor` or `Last-Event-ID` to continue after
    /// this decision.
    pub position: String,
    pub interrupt: Interrupt,
}
