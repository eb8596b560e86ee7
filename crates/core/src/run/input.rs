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
use crate::id::{InterruptId, Seed, SessionId};
use crate::interrupt::{
    AnswerContent, Assignment, ClaimHolder, Decision, Delegation, HandedTo, Kind, Refusal, Timing, Unusable,
    Withhold,
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

/// Everything outside the run that a decision may depend on.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    pub now: Timestamp,
    pub seed: Seed,
    pub actor: Actor,
    pub session: &'a Session,
    pub system: &'a System,
    /// Epoch of this process: its opening of the store.
    pub epoch: u64,
}

/// Input of a run, imperative: a request, or the answer of the outside world to an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Start(Start),
    /// Takes over work that was in flight when another process stopped, or that this process lost. `at_work`: actions
    /// that this process still performs; they continue.
    Adopt {
        at_work: BTreeSet<ActionId>,
    },
    /// A deadline has come.
    Tick,
    Decide {
        interrupt: InterruptId,
        decision: Decision,
        /// Client that decides, if it is to receive the call that the decision lets a client run.
        holder: Option<ClaimHolder>,
    },
    /// Claims an interrupt.
    Claim {
        interrupt: InterruptId,
        holder: Option<ClaimHolder>,
        /// Sequence of the claim to take over, whose client is gone.
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
    /// Records that a person views an interrupt.
    View {
        interrupt: InterruptId,
    },
    /// Snoozes an interrupt for one person. `None` ends the snooze.
    Snooze {
        interrupt: InterruptId,
        until: Option<Timestamp>,
    },
    /// Withdraws the sender's vote.
    TakeBack {
        interrupt: InterruptId,
    },
    /// Reassigns the decision to other people. `text`: the reason.
    Reassign {
        interrupt: InterruptId,
        to: HandedTo,
        text: Option<String>,
    },
    /// Delegates the decision of one person to another.
    Delegate {
        interrupt: InterruptId,
        delegation: Delegation,
    },
    /// People joined, left or changed roles: evaluates assignments again.
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
    /// Erases the content of the run. Each input erases the next part; the sender repeats it until no event follows.
    EraseContent {
        because: ErasureReason,
    },
    /// Forbids the erasure of the run's content. `reason`: the reason.
    LegalHold {
        reason: String,
    },
    LiftLegalHold,
    /// Reuses an earlier answer of the same subject for a question that has just opened.
    Reuse {
        interrupt: InterruptId,
        /// Question that the answer was given to.
        source: InterruptId,
        /// Person who gave the answer.
        by: String,
        given: AnswerContent,
    },
    Message {
        text: String,
    },
    /// Replaces the plan that is carried out. `version`: the version that the new plan was made from.
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
    /// Stops the running work now and makes the run wait for a message. `text`: the message, if it is known already.
    Interrupt {
        text: Option<String>,
    },
    /// Ends a running command now. `text`: message to its agent.
    StopCall {
        call: String,
        text: Option<String>,
    },
    /// Counts the votes on open approvals again, because policy or grants changed.
    Revote,

    /// Announces actions before the driver performs them. The driver performs those that the decision returns as
    /// started.
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
    /// Reports the outcome of a call that the client ran.
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
    /// A model call that a person interrupted has ended. `text`: the reply up to then.
    Stopped {
        step: String,
        turn: u32,
        text: String,
    },

    /// An agent of another framework asks a person.
    Ask(Box<Ask>),
    /// A service holds a native run until a person has reviewed it.
    Hold(Box<Hold>),
    /// The asking agent now performs what was approved. `digest`: digest of that action.
    UseApproval {
        interrupt: InterruptId,
        digest: Digest,
    },
    /// Withdraws an interrupt that needs no decision any more. `text`: the reason.
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
            Self::Ask(_) | Self::Hold(_) | Self::UseApproval { .. } => Some(Permission::Ask),
            // These have their own order of refusals, also `Reassign` and `Delegate`.
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
    /// Returns true if the input is about stored content. The run may have ended long ago.
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

    /// Returns true if the input is about a question of an external agent. Its run may have ended with the answer.
    pub(super) fn is_about_external_ask(&self) -> bool {
        matches!(self, Self::UseApproval { .. } | Self::Withdraw { .. })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    pub session: SessionId,
    pub definition: Digest,
    pub config: Config,
    pub input: Value,
    pub origin: Origin,
    /// Set if a message in the session begins the run. The sender has checked that the earlier front run has ended.
    pub front: Option<FrontStart>,
    /// Trace that the run is reported as a part of.
    pub trace: Option<TraceParent>,
}

/// Way in which a run takes the front of its session's conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontStart {
    /// Agent in front from here on. `None` keeps the current one.
    pub agent: Option<String>,
}

/// One action that is about to be performed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    Model {
        step: String,
        turn: u32,
    },
    Trial {
        call: String,
    },
    /// `observed`: the files of the preconditions as they are now.
    Tool {
        call: String,
        observed: Vec<Precondition>,
    },
}

/// Reason why a service holds a run, as shown to the reviewer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    pub title: String,
    pub message: String,
    pub payload: Value,
    pub risk: Level,
    /// `None` uses the expiry of reviews in the workflow.
    pub expires_in_ms: Option<u64>,
}

/// Question of an external agent to a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub kind: Kind,
    pub title: String,
    pub message: String,
    pub payload: Value,
    /// Option ids of the kind's table, with optional labels. For `choice`, the asker's own ids. Empty means all options
    /// of the kind.
    pub options: Vec<(String, Option<String>)>,
    pub response_schema: Option<Value>,
    pub expires_in_ms: Option<u64>,
    pub on_expiry: Option<String>,
    pub assignment: Assignment,
    /// Call for the gates, and the part of a change that a card shows. Only for a `tool_approval`.
    pub call: Option<(ForeignCall, Option<Value>)>,
    /// Time in which an approval can be used, in milliseconds. `None` means no limit.
    pub usable_ms: Option<u64>,
    pub timing: Timing,
    /// Fields that are withheld, each with the roles that do not see it.
    pub withhold: Vec<Withhold>,
    /// Id of the interrupt, if the asker wants a callback on its resolution. The address of the callback is stored
    /// under this id. `None`: the id is drawn, and there is no callback.
    pub callback: Option<InterruptId>,
}

/// Reason why an input was rejected. Each surface maps each reason to one stable code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the run has already started")]
    AlreadyStarted,
    #[error("the run is {}", .0.as_str())]
    Ended(Status),
    #[error("the run has no such interrupt")]
    UnknownInterrupt,
    /// The text ends a sentence.
    #[error("the interrupt has no stored answer: {0}")]
    NoAnswer(&'static str),
    #[error("the run has not ended: its content is needed until it ends")]
    NotEnded,
    #[error("the run is on legal hold: its content cannot be erased until the hold is lifted")]
    Held,
    /// A second reason would be lost, and lifting the first hold would lift both.
    #[error(
        "the run is already on legal hold, since {} by {}{}; lift the hold before you give another reason",
        .0.at, .0.by, .0.why()
    )]
    HeldAlready(LegalHold),
    #[error("the run has no such call")]
    UnknownCall,
    /// The text ends a sentence.
    #[error("the call cannot be stopped: {0}")]
    NotStoppable(&'static str),
    /// The text ends a sentence.
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
    /// The input answers an action that is not awaited: it is late, repeated, or of another attempt.
    #[error("nothing is waiting for this input: it is late or repeated")]
    Outdated,
    #[error("it is frozen: nothing starts until the freeze is lifted")]
    Frozen,
    #[error("the session is suspended: nothing starts in it until it is resumed")]
    SessionSuspended,
    #[error("the session is closed ({}): nothing starts in it any more", .0.as_str())]
    SessionClosed(session::End),
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

    /// Returns the text for the model. A failure without a text gets a default.
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
