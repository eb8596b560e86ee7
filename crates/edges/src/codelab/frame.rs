//! Frames out: what a client hears, as the source system writes it (contract B3). Nulls are left out.

use holdshort_protocol::FieldError;
use holdshort_web::problem::Refused;
use serde::Serialize;
use serde_json::Value;

use super::frame_id::FrameId;

/// A frame as it goes out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Told {
    #[serde(flatten)]
    pub(super) frame: Frame,
    /// Of what stands in the journal: the place to go on after.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<FrameId>,
}

impl Told {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<Frame> for Told {
    fn from(frame: Frame) -> Self {
        Self { frame, id: None }
    }
}

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
        /// Of what is to run. `approved: true`: a person has approved it; `redelivered: true`: it was handed out
        /// before.
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
        code: String,
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
        Self::Error {
            error: problem.detail.clone(),
            content: problem.detail.clone(),
            code: problem.code.as_str().to_owned(),
            errors: problem.errors.clone(),
            is_final: false,
        }
    }

    /// The work has failed, for this reason.
    pub(super) fn failed(reason: &str, text: String) -> Self {
        Self::Error {
            content: text.clone(),
            error: text,
            code: reason.to_owned(),
            errors: Vec::new(),
            is_final: true,
        }
    }
}
