//! Inputs of a run, the context of a decision, and the reasons of a rejection.

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

/// Everything that a decision may depend on, apart from the run itself.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    pub now: Timestamp,
    pub seed: Seed,
    pub actor: Actor,
    pub session: &'a Session,
    pub system: &'a System,
    /// Epoch of this process. Each opening of the store begins a new epoch.
    pub epoch: u64,
}

/// Input of a run: a request in the imperative, or the result of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Start(Start),
    /// Takes over work that was running when a different process stopped, or that this process lost. `at_work`:
    /// actions that still run in this process, and continue.
    Adopt {
        at_work: BTreeSet<ActionId>,
    },
    /// A deadline of the run has passed.
    Tick,
    Decide {
        interrupt: InterruptId,
        decision: Decision,
        /// Client of the person who decides. Set if this client is to run the call that the decision allows.
        holder: Option<ClaimHolder>,
    },
    /// Claims an interrupt.
    Claim {
        interrupt: InterruptId,
        holder: Option<ClaimHolder>,
        /// Sequence number of an earlier claim to take over because its client is gone.
        over: Option<u64>,
    },
    /// Releases a claim.
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
    /// Snoozes an interrupt for one person. If `until` is `None`, the snooze ends.
    Snooze {
        interrupt: InterruptId,
        until: Option<Timestamp>,
    },
    /// Withdraws the sender's vote.
    TakeBack {
        interrupt: InterruptId,
    },
    /// Reassigns an interrupt to new approvers. `text`: the reason.
    Reassign {
        interrupt: InterruptId,
        to: HandedTo,
        text: Option<String>,
    },
    /// Delegates a person's vote to a second person.
    Delegate {
        interrupt: InterruptId,
        delegation: Delegation,
    },
    /// People joined, left or changed roles. The assignments of open interrupts are evaluated again.
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
    /// Erases the content of the run in several parts. Each input erases the next part. The sender repeats the input
    /// until no event follows.
    EraseContent {
        because: ErasureReason,
    },
    LegalHold {
        reason: String,
    },
    LiftLegalHold,
    /// Answers a question that has just opened with an earlier answer of the same subject.
    Reuse {
        interrupt: InterruptId,
        /// Question to which the earlier answer was given.
        source: InterruptId,
        /// Person who gave the earlier answer.
        by: String,
        given: AnswerContent,
    },
    Message {
        text: String,
    },
    /// Replaces the plan that is carried out. `version`: the version on which the new plan is based.
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
    /// Stops the running work now, and makes the run wait for a person's message. `text`: the message, if the person
    /// has already written it.
    Interrupt {
        text: Option<String>,
    },
    /// Stops a running command now. `text`: the message to the command's agent.
    StopCall {
        call: String,
        text: Option<String>,
    },
    /// Counts the votes of the gates on open approvals again, because the policy or the grants changed.
    Revote,

    /// Announces actions that the driver is about to perform. The driver then performs only the actions that the
    /// resulting events record as started.
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
    /// Reports the outcome of a call that a client ran.
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
    /// A model call that a person interrupted has ended. `text`: the part of the reply that the model had sent.
    Stopped {
        step: String,
        turn: u32,
        text: String,
    },

    /// An agent of another framework asks a person.
    Ask(Box<Ask>),
    /// A service asks to hold a native run until a person has reviewed it.
    Hold(Box<Hold>),
    /// The asking agent starts the approved action. `digest`: the digest of the action.
    UseApproval {
        interrupt: InterruptId,
        digest: Digest,
    },
    /// The asking agent reports what became of the changes that it used. `text`: why they were not written.
    ReportExec {
        interrupt: InterruptId,
        outcome: ExecOutcome,
        text: Option<String>,
    },
    /// Withdraws an interrupt that no longer needs a decision. `text`: the reason.
    Withdraw {
        interrupt: InterruptId,
        text: Option<String>,
    },
    /// An agent of another framework finishes its run.
    Finish {
        result: Value,
    },
}

impl Input {
    /// Returns the permission that the sender needs. `None` if only the engine may send this input.
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
            // Inputs about an interrupt, including `Reassign` and `Delegate`, check permissions in their own order.
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
    /// Returns true if the input corrects or erases stored content, or places or lifts a legal hold. The run may have
    /// ended long ago.
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

    /// Returns true if the input is about a question of an external agent. The run of the question may have ended
    /// with its answer.
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
    /// Set if a message in the session begins the run. The sender has checked that the previous front run has ended.
    pub front: Option<FrontStart>,
    /// Trace context of the caller. The run is reported as a part of this trace.
    pub trace: Option<TraceParent>,
}

/// Parameters of a run that becomes the front run of its session's conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontStart {
    /// Agent that the person talks to from now on. `None` keeps the current agent.
    pub agent: Option<String>,
}

/// Action that is about to be performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    Model {
        step: String,
        turn: u32,
    },
    Trial {
        call: String,
    },
    /// `observed`: the current digests of the files that the release depends on.
    Tool {
        call: String,
        observed: Vec<Precondition>,
    },
}

/// Request of a service to hold a run, as shown to the reviewer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    pub title: String,
    pub message: String,
    pub payload: Value,
    pub risk: Level,
    /// Time until the hold expires, in milliseconds. `None` uses the expiry that the workflow sets for reviews.
    pub expires_in_ms: Option<u64>,
}

/// Question of an external agent to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub kind: Kind,
    pub title: String,
    pub message: String,
    pub payload: Value,
    /// Ids of the options to offer, with optional labels: ids of the kind's table or, for a `choice`, ids that the
    /// asker defines. Empty means all options of the kind.
    pub options: Vec<(String, Option<String>)>,
    pub response_schema: Option<Value>,
    pub expires_in_ms: Option<u64>,
    pub on_expiry: Option<String>,
    pub assignment: Assignment,
    /// Call for the gates, and the diff that the card shows. Only for a `tool_approval`.
    pub call: Option<(ForeignCall, Option<Value>)>,
    /// Trial of the call, if the agent requested one. Only with `call`.
    pub trial: Option<AskedTrial>,
    /// Time for which an approval can be used, in milliseconds. `None` means no time limit.
    pub usable_ms: Option<u64>,
    pub timing: Timing,
    /// Fields to withhold, each with the roles that cannot see the field.
    pub withhold: Vec<Withhold>,
    /// Id of the interrupt. Set if the asker requested a callback for the resolution of the interrupt. The callback
    /// URL is stored under this id. `None`: a new id is generated, and no callback is sent.
    pub callback: Option<InterruptId>,
}

/// Reason for rejecting an input. Each interface maps a reason to one stable code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the run has already started")]
    AlreadyStarted,
    #[error("the run is {}", .0.as_str())]
    Ended(Status),
    #[error("the run has no such interrupt")]
    UnknownInterrupt,
    /// The text completes the sentence of the error message.
    #[error("the interrupt has no stored answer: {0}")]
    NoAnswer(&'static str),
    #[error("the run has not ended, and its content is needed until the end")]
    NotEnded,
    #[error("the run is on legal hold, so its content cannot be erased until the hold is lifted")]
    Held,
    /// A second hold is rejected: its reason would be lost, and lifting the first hold would lift both.
    #[error(
        "the run is already on legal hold, since {} by {}{}; lift the hold before you give another reason",
        .0.at, .0.by, .0.why()
    )]
    HeldAlready(LegalHold),
    #[error("the run has no such call")]
    UnknownCall,
    /// The text completes the sentence of the error message.
    #[error("the call cannot be stopped: {0}")]
    NotStoppable(&'static str),
    /// The text completes the sentence of the error message.
    #[error("the run cannot be interrupted: {0}")]
    NotInterruptible(&'static str),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error(transparent)]
    Unusable(#[from] Unusable),
    #[error("this role may not do that")]
    Role,
    #[error("the request does not fit")]
    Invalid(Vec<Problem>),
    #[error("no such plan is being carried out")]
    NoPlan,
    #[error("the plan has changed since it was read: it is now at version {found}")]
    StalePlan { found: usize },
    #[error("version {version} of the plan is waiting for a decision: decide on that version first")]
    PlanHeld { version: usize },
    #[error("agents of other frameworks cannot take part in a run that Holdshort executes")]
    NotExternal,
    #[error("the limit `{name}` of {limit} is reached")]
    Limit { name: &'static str, limit: u64 },
    /// The input is the result of an action that the run does not await: the result is late, a duplicate, or from a
    /// different attempt.
    #[error("nothing is waiting for this input: it is late or repeated")]
    Outdated,
    #[error("a freeze applies to this run or its agent, so no work starts until the freeze is lifted")]
    Frozen,
    #[error("the session is suspended, so its runs start no work until the session is resumed")]
    SessionSuspended,
    #[error("the session is closed ({}), so its runs can start no work", .0.as_str())]
    SessionClosed(session::End),
    /// Another undo of the same run has started and has not ended.
    #[error("the undo {by} of this run is still open: decide or cancel it first")]
    UndoOpen { by: RunId },
}

/// Outcome of a call that a client ran.
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

    /// Returns the text for the model. A failure without a text gets a default text.
    pub(super) fn text(&self) -> &str {
        match self {
            Self::Failed { text } if text.trim().is_empty() => "it failed",
            Self::Done { text } | Self::Failed { text } => text,
        }
    }
}

/// Rejects a text that is longer than the limit.
pub(super) fn check_text(text: &str) -> Result<(), Rejection> {
    if text.len() > limits::TEXT_BYTES {
        let message = format!("is longer than {} bytes", limits::TEXT_BYTES);
        return Err(Rejection::Invalid(vec![Problem::new("/text", message)]));
    }
    Ok(())
}
