//! Inputs of a run, the data on which a decision may depend, and the reasons for rejecting an input.

use std::collections::BTreeSet;

use serde_json::Value;

use super::LegalHold;
use super::action::ActionId;
use super::config::{Config, Origin};
use super::fact::{CallEnd, ErasureReason};
use crate::actor::Actor;
use crate::digest::Digest;
use crate::gate::foreign::ForeignCall;
use crate::gate::foreign_trial::AskedTrial;
use crate::id::{InterruptId, RunId, Seed, SessionId};
use crate::interrupt::{
    AnswerContent, Assignment, ClaimHolder, Decision, Delegation, ExecOutcome, HandedTo, Kind, Refusal,
    Timing, Unusable, Withhold,
};
use crate::level::Level;
use crate::limits;
use crate::message::{Failure, Reply};
use crate::projection::Status;
use crate::rights::Permission;
use crate::schema::Problem;
use crate::session::{self, Session};
use crate::system::System;
use crate::time::Timestamp;
use crate::tool::{InspectionOutcome, Outcome, Precondition, TrialOutcome};
use crate::trace_parent::TraceParent;

/// Everything, except the state of a run, on which the result of an input to the run depends.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    pub now: Timestamp,
    pub seed: Seed,
    pub actor: Actor,
    pub session: &'a Session,
    pub system: &'a System,
    /// Epoch of the server process that handles the input. Each start of a process that opens the store begins a new
    /// epoch, with a higher number.
    pub epoch: u64,
}

/// Input of a run: a request, or the result of an action that the driver performed.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Start(Start),
    /// Continues work of the run that was running when another process stopped, or work that this process lost.
    /// `at_work` are the actions that still run in this process.
    Adopt {
        at_work: BTreeSet<ActionId>,
    },
    /// Handles the deadlines of the run that have passed.
    Tick,
    Decide {
        interrupt: InterruptId,
        decision: Decision,
        /// Client of the person who decides. Set if this client will execute the tool call that the decision approves.
        holder: Option<ClaimHolder>,
    },
    /// Claims an interrupt for the sender.
    Claim {
        interrupt: InterruptId,
        holder: Option<ClaimHolder>,
        /// Sequence number of an earlier claim on the interrupt that the sender's claim replaces, because the client of
        /// the earlier claim has disconnected.
        over: Option<u64>,
    },
    /// Gives up the sender's claim on an interrupt.
    Release {
        interrupt: InterruptId,
        holder: Option<ClaimHolder>,
    },
    Comment {
        interrupt: InterruptId,
        text: String,
    },
    /// Records that a person has viewed an interrupt.
    View {
        interrupt: InterruptId,
    },
    /// Snoozes an interrupt for one person. If `until` is `None`, ends the snooze of the person.
    Snooze {
        interrupt: InterruptId,
        until: Option<Timestamp>,
    },
    /// Withdraws the sender's vote on an interrupt.
    TakeBack {
        interrupt: InterruptId,
    },
    /// Reassigns an interrupt to new approvers. `text`: the reason for the reassignment.
    Reassign {
        interrupt: InterruptId,
        to: HandedTo,
        text: Option<String>,
    },
    /// Delegates a person's vote on an interrupt to a second person.
    Delegate {
        interrupt: InterruptId,
        delegation: Delegation,
    },
    /// Examines the assignments of open interrupts again, because people joined, left or changed roles.
    PeopleChanged,
    /// Corrects the stored answer to a question.
    CorrectAnswer {
        interrupt: InterruptId,
        given: AnswerContent,
    },
    /// Erases the stored answer to a question.
    EraseAnswer {
        interrupt: InterruptId,
    },
    /// Erases one part of the run's content. Each input of this kind erases the next part. The sender repeats the input
    /// until the input causes no event.
    EraseContent {
        because: ErasureReason,
    },
    LegalHold {
        reason: String,
    },
    LiftLegalHold,
    /// Answers a new question with an earlier answer about the same subject.
    Reuse {
        interrupt: InterruptId,
        /// Earlier question whose answer is reused for the new question.
        source: InterruptId,
        /// Person who gave the earlier answer that is reused.
        by: String,
        given: AnswerContent,
    },
    Message {
        text: String,
    },
    /// Replaces the plan that agents are carrying out. `version` is the version on which the new plan is based.
    Replan {
        phase: String,
        version: Option<usize>,
        plan: Value,
    },
    Pause,
    Resume,
    Cancel {
        text: Option<String>,
    },
    /// Stops the running work of the run at once, and makes the run wait for a person's message. `text`: the message,
    /// if the person has already written the message.
    Interrupt {
        text: Option<String>,
    },
    /// Stops a running command of an agent at once. `text`: the message to the agent that runs the command.
    StopCall {
        call: String,
        text: Option<String>,
    },
    /// Lets the approval gates vote again on the run's open approvals, because the policy or the grants changed.
    Revote,

    /// Announces actions that the driver is about to perform. The driver then performs an action only if the resulting
    /// events record its start.
    Begin {
        begins: Vec<Begin>,
    },
    Inspected {
        call: String,
        revision: u32,
        inspected: InspectionOutcome,
    },
    Tried {
        call: String,
        attempt: u32,
        tried: TrialOutcome,
    },
    Ran {
        call: String,
        attempt: u32,
        outcome: Outcome,
    },
    /// Reports the outcome of a tool call that a client executed.
    ClientResult {
        call: String,
        outcome: ClientOutcome,
    },
    Replied {
        step: String,
        turn: u32,
        reply: Reply,
    },
    Failed {
        step: String,
        turn: u32,
        failure: Failure,
    },
    /// Reports that a model call that a person interrupted has ended. `text`: the part of the reply that had arrived.
    Stopped {
        step: String,
        turn: u32,
        text: String,
    },

    /// Asks a person on behalf of an external agent.
    Ask(Box<Ask>),
    /// Stops a run until a person has reviewed the run, because a service requested the review.
    Hold(Box<Hold>),
    /// Records that the external agent that asked starts the approved action. `digest`: the digest of the action.
    UseApproval {
        interrupt: InterruptId,
        digest: Digest,
    },
    /// Reports the outcome of writing approved changes, which the external agent that asked writes itself. `text`: the
    /// reason why the agent did not write the changes.
    ReportExec {
        interrupt: InterruptId,
        outcome: ExecOutcome,
        text: Option<String>,
    },
    /// Withdraws an external agent's interrupt that no longer needs a decision. `text`: the reason for the withdrawal.
    Withdraw {
        interrupt: InterruptId,
        text: Option<String>,
    },
    /// Completes the run of an external agent with the result that the agent reports.
    Finish {
        result: Value,
    },
}

impl Input {
    /// Returns the permission that the sender of the input needs. `None` if only the engine may send this input.
    pub fn permission(&self) -> Option<Permission> {
        match self {
            Self::Start(_)
            | Self::Finish { .. }
            | Self::Message { .. }
            | Self::Replan { .. }
            | Self::Pause
            | Self::Cancel { .. }
            | Self::Interrupt { .. }
            | Self::StopCall { .. }
            | Self::CorrectAnswer { .. }
            | Self::EraseAnswer { .. }
            | Self::Withdraw { .. }
            | Self::ClientResult { .. } => Some(Permission::Steer),
            Self::Ask(_) | Self::Hold(_) | Self::UseApproval { .. } | Self::ReportExec { .. } => {
                Some(Permission::Ask)
            }
            // Inputs about an interrupt, including `Reassign` and `Delegate`, check permissions later, in an order of
            // their own.
            Self::Decide { .. }
            | Self::Claim { .. }
            | Self::Release { .. }
            | Self::Comment { .. }
            | Self::View { .. }
            | Self::Snooze { .. }
            | Self::TakeBack { .. }
            | Self::Reassign { .. }
            | Self::Delegate { .. } => Some(Permission::Decide),
            Self::EraseContent { .. } | Self::LegalHold { .. } | Self::LiftLegalHold => {
                Some(Permission::Administer)
            }
            Self::Resume => Some(Permission::Halt),
            Self::Adopt { .. }
            | Self::Tick
            | Self::PeopleChanged
            | Self::Reuse { .. }
            | Self::Revote
            | Self::Begin { .. }
            | Self::Inspected { .. }
            | Self::Tried { .. }
            | Self::Ran { .. }
            | Self::Replied { .. }
            | Self::Failed { .. }
            | Self::Stopped { .. } => None,
        }
    }
}

impl Input {
    /// Returns true if the input to a run corrects or erases stored content, or places or lifts a legal hold. Such an
    /// input is allowed even after the end of the run.
    pub(super) fn is_of_history(&self) -> bool {
        matches!(
            self,
            Self::CorrectAnswer { .. }
                | Self::EraseAnswer { .. }
                | Self::EraseContent { .. }
                | Self::LegalHold { .. }
                | Self::LiftLegalHold
        )
    }

    /// Returns true if the input to a run is about a question of an external agent. Such an input is allowed even if
    /// the answer to the question has ended the run.
    pub(super) fn is_about_external_ask(&self) -> bool {
        matches!(self, Self::UseApproval { .. } | Self::ReportExec { .. } | Self::Withdraw { .. })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    pub session: SessionId,
    pub definition: Digest,
    pub config: Config,
    pub input: Value,
    pub origin: Origin,
    /// Parameters of the front run of a conversation. Set if a message in the session begins the run. The sender has
    /// then checked that the session's previous front run has ended.
    pub front: Option<FrontStart>,
    /// Trace context of the caller that starts the run. The run is reported as part of this trace.
    pub trace: Option<TraceParent>,
}

/// Parameters of a run that becomes the front run of its session's conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontStart {
    /// Agent that the person talks to after the start of the run. `None` keeps the conversation's current agent.
    pub agent: Option<String>,
}

/// Action that the driver is about to perform for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    Model {
        step: String,
        turn: u32,
    },
    Trial {
        call: String,
    },
    /// Starts a tool call. `observed`: the current digests of the files on which the release of the call depends.
    Tool {
        call: String,
        observed: Vec<Precondition>,
    },
}

/// Request of a service to stop a run for a review. The reviewer sees the fields of this request.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    pub title: String,
    pub message: String,
    pub payload: Value,
    pub risk: Level,
    /// Time until the review that a service requested expires, in milliseconds. If `None`, the expiry that the workflow
    /// sets for reviews applies.
    pub expires_in_ms: Option<u64>,
}

/// Question that an external agent asks a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub kind: Kind,
    pub title: String,
    pub message: String,
    pub payload: Value,
    /// Ids of the options that the external agent's question offers, each with an optional label. The ids come from the
    /// table of the question's kind. For a `choice`, the agent defines the ids. If the list is empty, the options of
    /// the kind are offered, without options that only Holdshort's own agents can use.
    pub options: Vec<(String, Option<String>)>,
    pub response_schema: Option<Value>,
    pub expires_in_ms: Option<u64>,
    pub on_expiry: Option<String>,
    pub assignment: Assignment,
    /// External agent's tool call that the approval gates vote on, and the diff that the approval card shows. Only for
    /// a `tool_approval`.
    pub call: Option<(ForeignCall, Option<Value>)>,
    /// Trial of the external agent's tool call, if the agent requested a trial. Only with `call`.
    pub trial: Option<AskedTrial>,
    /// Time in milliseconds during which the external agent may use an approval. `None` means no time limit.
    pub usable_ms: Option<u64>,
    pub timing: Timing,
    /// Fields of the external agent's card that are hidden from people with certain roles.
    pub withhold: Vec<Withhold>,
    /// Id of the interrupt that the external agent's question opens. Set if the agent requested a callback when the
    /// interrupt is resolved. The callback URL is stored under this id. If `None`, a new id is generated and no
    /// callback is sent.
    pub callback: Option<InterruptId>,
}

/// Reason for rejecting an input to a run. Each interface has one stable error code for each reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the run has already started")]
    AlreadyStarted,
    #[error("the run has ended with the status `{}`", .0.as_str())]
    Ended(Status),
    #[error("the run has no interrupt with this id")]
    UnknownInterrupt,
    /// The interrupt has no stored answer to correct or erase. The value is the reason, as the end of the error
    /// message.
    #[error("the interrupt has no stored answer: {0}")]
    NoAnswer(&'static str),
    #[error("the run has not ended, so its content cannot be erased yet")]
    NotEnded,
    #[error("the run is on legal hold, so its content cannot be erased until the hold is lifted")]
    Held,
    /// A second legal hold on the run is rejected. The reason of a second hold would be lost, and lifting the first
    /// hold would also lift the second.
    #[error(
        "the run is already on legal hold, since {} by {}{}; lift the hold before you give another reason",
        .0.at, .0.by, .0.why()
    )]
    HeldAlready(LegalHold),
    #[error("the run has no call with this id")]
    UnknownCall,
    /// The tool call cannot be stopped. The value is the reason, as the end of the error message.
    #[error("the call cannot be stopped: {0}")]
    NotStoppable(&'static str),
    /// The run cannot be interrupted. The value is the reason, as the end of the error message.
    #[error("the run cannot be interrupted: {0}")]
    NotInterruptible(&'static str),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Unusable(#[from] Unusable),
    #[error("your role does not permit this action")]
    Role,
    #[error("the request is not valid")]
    Invalid(Vec<Problem>),
    #[error("no plan of this phase is being carried out")]
    NoPlan,
    #[error("the plan has changed since it was read: it is now at version {found}")]
    StalePlan { found: usize },
    #[error("version {version} of the plan is waiting for a decision: decide on that version first")]
    PlanHeld { version: usize },
    #[error("agents of other frameworks cannot take part in a run that Holdshort executes")]
    NotExternal,
    #[error("the limit `{name}` of {limit} is reached")]
    Limit { name: &'static str, limit: u64 },
    /// The input is the result of an action for which the run does not wait. The result is late, is a duplicate, or
    /// belongs to another attempt.
    #[error("the run does not wait for this input: the input is late or repeated")]
    Outdated,
    #[error("a freeze applies to this run or its agent, so no work starts until the freeze is lifted")]
    Frozen,
    #[error("the session is suspended, so its runs start no work until the session is resumed")]
    SessionSuspended,
    #[error("the session is closed ({}), so its runs can start no work", .0.as_str())]
    SessionClosed(session::End),
    /// Another undo of the same run has started and not yet ended. The value is the run of that undo.
    #[error("the undo {by} of this run is still open: decide or cancel it first")]
    UndoOpen { by: RunId },
}

/// Outcome of a tool call that a client executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientOutcome {
    Done { text: String },
    Failed { text: String },
}

impl ClientOutcome {
    pub(super) fn option(&self) -> &'static str {
        match self {
            Self::Done { .. } => "result",
            Self::Failed { .. } => "error",
        }
    }

    pub(super) fn end(&self) -> CallEnd {
        match self {
            Self::Done { .. } => CallEnd::Done,
            Self::Failed { .. } => CallEnd::Failed,
        }
    }

    /// Returns the text that the model gets about the outcome of a tool call that a client executed. If a failed call
    /// has no text, returns a default text.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Failed { text } if text.trim().is_empty() => "it failed",
            Self::Done { text } | Self::Failed { text } => text,
        }
    }
}

/// Returns an error if a person's text is longer than the limit for answers, notes and messages.
pub(super) fn check_text(text: &str) -> Result<(), Rejection> {
    if text.len() > limits::TEXT_BYTES {
        let message = format!("is longer than {} bytes", limits::TEXT_BYTES);
        return Err(Rejection::Invalid(vec![Problem::new("/text", message)]));
    }
    Ok(())
}
