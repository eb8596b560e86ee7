//! Frames out: what a client hears, as the source system writes it (contract B3). Nulls are left out.

use holdshort_protocol::{Code, FieldError};
use serde::Serialize;
use serde_json::Value;

use crate::problem::Refused;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Frame {
    /// The first frame of a connection.
    SessionInfo {
        session_id: String,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<String>,
        agent: String,
        pending_approvals: usize,
        pending_plans: usize,
        /// Words are played from a script.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        rehearsal: bool,
    },
    Status {
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    AssistantMessage {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
        is_final: bool,
    },
    /// The later form of `plan_notification` (contract B14).
    PlanApprovalRequired {
        approval_request_id: String,
        plan_id: String,
        plan_summary: String,
    },
    PlanNotification {
        content: String,
        metadata: PlanMetadata,
        is_final: bool,
    },
    ToolCall {
        call_id: String,
        tool_name: String,
        arguments: Value,
        requires_approval: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// `redelivered: true` where it was handed out before.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    AgentSwitched {
        from: String,
        to: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    SubtaskStarted {
        plan_id: String,
        subtask_id: String,
        description: String,
        agent: String,
        index: usize,
        total: usize,
    },
    SubtaskCompleted {
        plan_id: String,
        subtask_id: String,
        status: &'static str,
        completion_reason: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    PlanCompleted {
        plan_id: String,
        plan_status: &'static str,
        total_subtasks: usize,
        completed: usize,
        failed: usize,
        skipped: usize,
        is_final: bool,
    },
    Error {
        error: String,
        content: String,
        code: &'static str,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FieldError>,
        is_final: bool,
    },
    /// Nothing more comes by itself: the run waits, is paused, or has ended.
    Done {
        status: &'static str,
    },
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PlanMetadata {
    pub(super) plan_id: String,
    pub(super) approval_request_id: String,
    pub(super) subtask_count: usize,
    pub(super) subtasks: Vec<Subtask>,
    pub(super) requires_approval: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<String>,
}

/// A subtask (contract B7).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Subtask {
    pub(super) id: String,
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent: Option<String>,
    pub(super) dependencies: Vec<String>,
    pub(super) status: &'static str,
}

impl Frame {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    pub(super) fn status(status: &'static str) -> Self {
        Self::Status { status, content: None, metadata: None }
    }

    /// What an agent said, or what is said in its place.
    pub(super) fn said(content: impl Into<String>, is_final: bool) -> Self {
        Self::AssistantMessage { content: content.into(), metadata: None, is_final }
    }

    /// A message that is not carried out. The connection stays, and nothing has changed.
    pub(super) fn refused(refused: &Refused) -> Self {
        let problem = &refused.0;
        Self::error(problem.code, problem.detail.clone(), problem.errors.clone(), false)
    }

    pub(super) fn error(code: Code, text: String, errors: Vec<FieldError>, is_final: bool) -> Self {
        Self::Error { content: text.clone(), error: text, code: code.as_str(), errors, is_final }
    }
}
