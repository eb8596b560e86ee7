//! Outgoing frames, in the form that clients of the source system parse (contracts B3, B15). Fields without a value are
//! omitted. `docs/reference/edges/codelab.md` lists the fields that each client reads.

use holdshort_protocol::FieldError;
use holdshort_web::problem::Refused;
use serde::Serialize;
use serde_json::{Value, json};

use super::activity::Activity;
use super::frame_id::FrameId;
use crate::assignment;

/// Frame to send to a client, with the position after which the client can resume.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct OutgoingFrame {
    #[serde(flatten)]
    pub(super) frame: Frame,
    /// Position of the frame, after which a client can resume. `None` if the frame reports no event of the journal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<FrameId>,
}

impl OutgoingFrame {
    pub(super) fn text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl From<Frame> for OutgoingFrame {
    fn from(frame: Frame) -> Self {
        Self { frame, id: None }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Frame {
    /// First frame of a socket connection. A response that is a stream contains this frame only if the response begins
    /// a session or resumes after a position.
    SessionInfo {
        session_id: String,
        content: String,
        status: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        run_id: Option<String>,
        agent: String,
        pending_approvals: usize,
        pending_plans: usize,
        /// True if the agents replay a scripted rehearsal instead of calling a model.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        rehearsal: bool,
    },
    Status {
        status: &'static str,
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    /// Text that an agent or the codelab edge writes. [`Frame::says`] creates this frame.
    AssistantMessage {
        content: String,
        /// Copy of the message's `content`: one client joins the tokens, another client shows `content`.
        token: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
        is_final: bool,
    },
    /// Newer form of the frame `plan_notification` (contract B14).
    PlanApprovalRequired {
        content: String,
        approval_request_id: String,
        plan_id: String,
        plan_summary: PlanSummary,
    },
    PlanNotification {
        content: String,
        plan_id: String,
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
        /// In a frame that asks a client to run a call: `approved: true` if a person has approved the call, and
        /// `redelivered: true` if a client was asked to run the call before. In an approval request: `assignment`,
        /// absent if any single operator may decide.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    AgentSwitched(Facts<AgentSwitch>),
    SubtaskStarted(Facts<SubtaskStart>),
    /// Updates the plan panel of the IDE, which reads the fields of this frame only at the top level (contract B16).
    PlanProgress {
        plan_id: String,
        step_id: String,
        status: &'static str,
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    SubtaskCompleted(Facts<SubtaskEnd>),
    PlanCompleted(Facts<PlanOutcome>),
    Error {
        error: String,
        content: String,
        code: String,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        errors: Vec<FieldError>,
        is_final: bool,
    },
    /// The run waits for a person, is paused, or has ended.
    Done {
        status: &'static str,
        content: &'static str,
        is_final: bool,
    },
}

/// Text of a frame for people, with the same facts as data. The data is both at the top level and in `metadata`,
/// because some clients read the top level and others read `metadata`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Facts<T> {
    content: String,
    #[serde(flatten)]
    top: T,
    metadata: T,
}

impl<T: Clone> Facts<T> {
    pub(super) fn new(content: String, facts: T) -> Self {
        Self { content, metadata: facts.clone(), top: facts }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct AgentSwitch {
    from: String,
    to: String,
    from_agent: String,
    to_agent: String,
    reason: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SubtaskStart {
    pub(super) plan_id: String,
    pub(super) subtask_id: String,
    pub(super) description: String,
    pub(super) agent: String,
    pub(super) status: &'static str,
    pub(super) index: usize,
    pub(super) total: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SubtaskEnd {
    pub(super) plan_id: String,
    pub(super) subtask_id: String,
    pub(super) status: &'static str,
    pub(super) completion_reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) result: Option<SubtaskResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<String>,
}

/// Result of a subtask in a frame: a JSON object, because all clients expect an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct SubtaskResult {
    pub(super) content: String,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PlanOutcome {
    pub(super) plan_id: String,
    pub(super) plan_status: &'static str,
    pub(super) total_subtasks: usize,
    pub(super) completed: usize,
    pub(super) failed: usize,
    pub(super) skipped: usize,
    pub(super) is_final: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PlanSummary {
    pub(super) goal: String,
    pub(super) subtasks_count: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_estimated_time: Option<String>,
    pub(super) subtasks: Vec<Subtask>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct PlanMetadata {
    pub(super) plan_id: String,
    pub(super) approval_request_id: String,
    pub(super) original_task: String,
    pub(super) subtask_count: usize,
    pub(super) subtasks: Vec<Subtask>,
    pub(super) requires_approval: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) expires_at: Option<String>,
    /// Approvers of the plan and their votes. `None` if any single operator may decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) assignment: Option<Value>,
}

/// Subtask of a plan in the form that clients receive (contract B7).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Subtask {
    pub(super) id: String,
    pub(super) description: String,
    pub(super) agent: String,
    pub(super) dependencies: Vec<String>,
    pub(super) status: &'static str,
    /// Estimated duration of the subtask, as the planning agent wrote it. The IDE shows this text unchanged. Without
    /// the text, the IDE shows no estimate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) estimated_time: Option<String>,
}

impl Frame {
    /// Returns the name under which a frame is sent as a server-sent event. Clients forward events named `message`,
    /// show events named `error`, and close the stream on `done`.
    pub(super) fn event(&self) -> &'static str {
        match self {
            Self::Done { .. } => "done",
            Self::Error { .. } => "error",
            _ => "message",
        }
    }

    /// Returns a frame with an agent's message, or with a message of this edge in the same form.
    pub(super) fn says(content: impl Into<String>, metadata: Option<Value>, is_final: bool) -> Self {
        let content = content.into();
        Self::AssistantMessage { token: content.clone(), content, metadata, is_final }
    }

    /// Adds the approvers and votes of an interrupt to the data and to the text of its frame.
    pub(super) fn assign(&mut self, told: &assignment::AssignmentSummary) {
        let more = format!("\n\n{}", told.words);
        let data = |metadata: &mut Option<Value>| {
            metadata.get_or_insert_with(|| json!({}))["assignment"] = told.data.clone();
        };
        match self {
            Self::Status { content, metadata, .. } => {
                content.push_str(&more);
                data(metadata);
            }
            Self::AssistantMessage { content, token, metadata, .. } => {
                content.push_str(&more);
                token.push_str(&more);
                data(metadata);
            }
            Self::PlanApprovalRequired { content, .. } => content.push_str(&more),
            Self::PlanNotification { content, metadata, .. } => {
                content.push_str(&more);
                metadata.assignment = Some(told.data.clone());
            }
            Self::ToolCall { reason, metadata, .. } => {
                let reasons = reason.take().into_iter().chain([told.words.replace('\n', "; ")]);
                *reason = Some(reasons.collect::<Vec<_>>().join("; "));
                data(metadata);
            }
            _ => {}
        }
    }

    /// Returns the approvers and votes that [`Self::assign`] added to the frame.
    pub(super) fn assignment(&mut self) -> Option<&mut Value> {
        match self {
            Self::Status { metadata, .. }
            | Self::AssistantMessage { metadata, .. }
            | Self::ToolCall { metadata, .. } => metadata.as_mut()?.get_mut("assignment"),
            Self::PlanNotification { metadata, .. } => metadata.assignment.as_mut(),
            _ => None,
        }
    }

    pub(super) fn status(status: &'static str, content: impl Into<String>) -> Self {
        Self::Status { status, content: content.into(), metadata: None }
    }

    pub(super) fn switched(from: &str, to: &str, reason: String) -> Self {
        let (from, to) = (from.to_owned(), to.to_owned());
        let content = format!("{from} → {to}: {reason}");
        let (from_agent, to_agent) = (from.clone(), to.clone());
        Self::AgentSwitched(Facts::new(content, AgentSwitch { from, to, from_agent, to_agent, reason }))
    }

    /// Returns the error frame for a rejected message. The connection stays open, and the message had no effect.
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

    pub(super) fn failed(reason: &str, text: String) -> Self {
        Self::Error {
            content: text.clone(),
            error: text,
            code: reason.to_owned(),
            errors: Vec::new(),
            is_final: true,
        }
    }

    pub(super) fn done(activity: Activity) -> Self {
        Self::Done { status: activity.as_str(), content: activity.sentence(), is_final: true }
    }

    /// Last frame of a response whose message was rejected.
    pub(super) const REFUSED: Self =
        Self::Done { status: "refused", content: "The message had no effect.", is_final: true };
}
