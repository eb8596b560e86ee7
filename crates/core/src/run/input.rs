//! What can be asked of a run, with what context, and how it says no.

use std::collections::BTreeSet;

use serde_json::Value;

use super::LegalHold;
use super::action::ActionId;
use super::config::{Config, Origin};
use super::fact::{CallEnd, Erased};
use crate::actor::Actor;
use crate::digest::Digest;
use crate::gate::foreign::ForeignCall;
use crate::id::{InterruptId, Seed, SessionId};
use crate::interrupt::{
    Assignment, Decision, Delegation, Given, HandedTo, Holder, Kind, Refusal, Timing, Unusable, Withhold,
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
use crate::tool::{Inspected, Outcome, Precondition, Tried};
use crate::trace_parent::TraceParent;

/// Everything outside the run that a decision may depend on.
#[derive(Clone, Debug)]
pub struct Context<'a> {
    pub now: Timestamp,
    pub seed: Seed,
    pub actor: Actor,
    pub session: &'a Session,
    pub system: &'a System,
    /// The opening of the store under which this process works.
    pub epoch: u64,
}

/// Imperative: what somebody wants, or what the world answered to an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    Start(Start),
    /// Takes over work that was in flight when another process stopped, or that this one lost. `at_work`: what this
    /// process performs; it goes on.
    Adopt {
        at_work: BTreeSet<ActionId>,
    },
    /// A deadline has come.
    Tick,
    Decide {
        interrupt: InterruptId,
        decision: Decision,
        /// The client that decides, where it is to have what its decision lets a client run.
        holder: Option<Holder>,
    },
    /// Somebody is at an interrupt.
    Claim {
        interrupt: InterruptId,
        holder: Option<Holder>,
        /// The sequence of the claim that it takes over: of a client that is gone.
        over: Option<u64>,
    },
    /// Nobody is at it any more.
    Release {
        interrupt: InterruptId,
        holder: Option<Holder>,
    },
    Comment {
        interrupt: InterruptId,
        text: String,
    },
    /// Somebody looks at an interrupt.
    View {
        interrupt: InterruptId,
    },
    /// Somebody puts it off for themselves; `None`: no more.
    Snooze {
        interrupt: InterruptId,
        until: Option<Timestamp>,
    },
    /// Somebody takes their vote back.
    TakeBack {
        interrupt: InterruptId,
    },
    /// Others are to decide. `text`: why.
    Reassign {
        interrupt: InterruptId,
        to: HandedTo,
        text: Option<String>,
    },
    /// Somebody is to decide in the place of somebody.
    Delegate {
        interrupt: InterruptId,
        delegation: Delegation,
    },
    /// People came, left, or changed what they may: assignments are looked at again.
    PeopleChanged,
    /// What is kept as the answer to a question was wrong.
    CorrectAnswer {
        interrupt: InterruptId,
        given: Given,
    },
    /// The answer to a question is to be kept no longer.
    EraseAnswer {
        interrupt: InterruptId,
    },
    /// Nothing of what it said is to be kept. Each takes the next part, until nothing comes of it.
    EraseContent {
        because: Erased,
    },
    /// Nothing of what it said may be erased. `reason`: why.
    LegalHold {
        reason: String,
    },
    LiftLegalHold,
    /// An earlier answer of the same subject counts for a question that has just been opened.
    Reuse {
        interrupt: InterruptId,
        /// The question that it answered.
        source: InterruptId,
        /// Who gave it.
        by: String,
        given: Given,
    },
    Message {
        text: String,
    },
    /// Another plan instead of the one that is carried out. `version`: the one that it was made from.
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
    /// What is at work is to stop now, and the run to wait for words. `text`: the words, where they are known already.
    Interrupt {
        text: Option<String>,
    },
    /// A command that runs is to end now. `text`: what its agent is told.
    StopCall {
        call: String,
        text: Option<String>,
    },
    /// Policy or grants changed: count the votes on open asks again.
    Revote,

    /// The driver is about to perform these. Performed is what comes back as started.
    Begin {
        begins: Vec<Begin>,
    },
    Inspected {
        call: String,
        revision: u32,
        inspected: Inspected,
    },
    Tried {
        call: String,
        attempt: u32,
        tried: Tried,
    },
    Ran {
        call: String,
        attempt: u32,
        outcome: Outcome,
    },
    /// The client tells what came of a call that it ran.
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
    /// A model call that a person interrupted has ended. `text`: what it had said by then.
    Stopped {
        step: String,
        turn: u32,
        text: String,
    },

    /// An agent of another framework asks.
    Ask(Box<Ask>),
    /// A service holds a run of ours until a person has looked at it.
    Hold(Box<Hold>),
    /// It does now what was approved. `digest`: of that.
    UseApproval {
        interrupt: InterruptId,
        digest: Digest,
    },
    /// It needs no decision any more. `text`: why.
    Withdraw {
        interrupt: InterruptId,
        text: Option<String>,
    },
    /// An agent of another framework is done.
    Finish {
        result: Value,
    },
}

impl Input {
    /// What whoever sends it may do. `None`: the engine alone sends it.
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
            // Who may say who decides has an order of refusals of its own, too.
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
    /// Whether it is about what is kept of the run, which may have ended long ago.
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

    /// Whether it is about what an agent that runs elsewhere asked, whose run may have ended with the answer.
    pub(super) fn is_of_what_was_asked(&self) -> bool {
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
    /// What was said begins it. Whoever sends this has seen that the front run before it has ended.
    pub front: Option<FrontStart>,
    /// The trace that it is told as a part of.
    pub trace: Option<TraceParent>,
}

/// How a run takes the front of its session's conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontStart {
    /// Who is in front from here on; `None`: who was before.
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
    /// `observed`: the files of its preconditions as they are now.
    Tool {
        call: String,
        observed: Vec<Precondition>,
    },
}

/// Why a service holds a run, for the person who looks at it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hold {
    pub title: String,
    pub message: String,
    pub payload: Value,
    pub risk: Level,
    /// `None`: as the workflow says of reviews.
    pub expires_in_ms: Option<u64>,
}

/// What an external agent puts before a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    pub kind: Kind,
    pub title: String,
    pub message: String,
    pub payload: Value,
    /// Ids of the kind's table, perhaps relabelled; for `choice`, the asker's own. Empty: the kind's.
    pub options: Vec<(String, Option<String>)>,
    pub response_schema: Option<Value>,
    pub expires_in_ms: Option<u64>,
    pub on_expiry: Option<String>,
    pub assignment: Assignment,
    /// The call that the gates vote on, and what of a change a card shows; only of a `tool_approval`.
    pub call: Option<(ForeignCall, Option<Value>)>,
    /// For how long an approval can be used; `None`: for ever.
    pub usable_ms: Option<u64>,
    pub timing: Timing,
    /// What is withheld from whom.
    pub withhold: Vec<Withhold>,
    /// The id that the interrupt gets, where whoever asks is told of its resolution: under it is kept where. `None`: it is
    /// drawn, and nobody is told so.
    pub callback: Option<InterruptId>,
}

/// Why nothing happened. Every surface maps these to one stable code each.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    #[error("the run has started already")]
    AlreadyStarted,
    #[error("the run is {}", .0.as_str())]
    Ended(Status),
    #[error("the run has no such interrupt")]
    UnknownInterrupt,
    /// In words that end a sentence.
    #[error("the interrupt has no answer that is kept: {0}")]
    NoAnswer(&'static str),
    #[error("the run has not ended: what it says is needed until then")]
    NotEnded,
    #[error("what the run said is held from being erased until somebody lifts that")]
    Held,
    /// Another reason would be lost, and whoever lifts the first hold would lift both.
    #[error("it is held already, since {} by {}{}; lift that before you give another reason", .0.at, .0.by, .0.why())]
    HeldAlready(LegalHold),
    #[error("the run has no such call")]
    UnknownCall,
    /// In words that end a sentence.
    #[error("the call can not be stopped: {0}")]
    NotStoppable(&'static str),
    /// In words that end a sentence.
    #[error("the run can not be interrupted: {0}")]
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
    #[error("the plan has changed meanwhile: it is at version {found}")]
    StalePlan { found: usize },
    #[error("version {version} of the plan waits for a decision: decide on it first")]
    PlanHeld { version: usize },
    #[error("agents of other frameworks can not take part in a run of ours")]
    NotExternal,
    #[error("the limit `{name}` of {limit} is reached")]
    Limit { name: &'static str, limit: u64 },
    /// The answer to an action that is not awaited (any more): late, repeated, or of another attempt.
    #[error("nothing waits for this")]
    Outdated,
    #[error("it is frozen: nothing starts until somebody lifts that")]
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

    /// A failure says something, if the client does not.
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
