//! What can happen in a run. Past tense; facts only, texts and arguments are the event's content.
//!
//! The content of each event is named beside it: `text` and `data` are the fields of [`crate::envelope::Content`].

mod call;
mod reason;
mod step;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub(super) use call::LayerDigest;
pub use call::{Authority, CallEnd, Judgement, Listed, Look, Returned};
pub use reason::{Erased, Reassigned, Withdrawn};
pub use step::{Node, PlanPart, RoutedBy, RoutedTask, StepEnd, StepRole};

use super::action::ActionId;
use super::config::{Config, Origin};
use crate::definition::Phase;
use crate::digest::Digest;
use crate::id::{InterruptId, RunId, SessionId};
use crate::interrupt::{Assignment, Cause, Delegation, Effect, Holder, Opened, Outcome, Reminded, Seat};
use crate::json::is_default;
use crate::level::Level;
use crate::message::{FailureKind, Stop, Usage};
use crate::reply::Flaw;
use crate::time::Timestamp;
use crate::tool::{CommandEffect, SandboxLevel};
use crate::trace_parent::TraceParent;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", content = "facts", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fact {
    /// data: the input.
    RunStarted {
        session: SessionId,
        workflow: String,
        definition: Digest,
        config: Config,
        origin: Origin,
        /// Something that was said in the session began it: it has the front of the conversation.
        #[serde(default, skip_serializing_if = "is_default")]
        front: bool,
        /// The trace of whoever asked for it, where they said that they are in one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceParent>,
    },
    /// A node took over work that was in flight when another one, or the one before a restart, stopped.
    Adopted {
        epoch: u64,
        /// What the node is still at itself: it counts as started under this epoch.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        kept: BTreeSet<ActionId>,
    },
    RunPaused,
    RunResumed,
    /// A person interrupted it: what is at work stops, and each model call that is out comes back as `model_stopped`.
    RunInterrupted,
    /// Its session is suspended: it rests until the session is resumed.
    RunSuspended,
    /// Its session is resumed.
    RunUnsuspended,
    /// data: the result.
    RunCompleted {
        reason: String,
    },
    /// text: what went wrong.
    RunFailed {
        reason: String,
    },
    /// text: why, where somebody said so.
    RunCancelled {
        reason: String,
    },

    PhaseStarted {
        phase: String,
    },
    /// text: why, where a phase that a call began did not end well.
    PhaseEnded {
        phase: String,
        end: StepEnd,
    },
    /// A call begins a phase of its own. text: what it works on.
    PhaseCalled {
        call: String,
        /// Which of a chain it is, from 0.
        #[serde(default, skip_serializing_if = "is_default")]
        nth: usize,
        /// Its form, without words.
        phase: Box<Phase>,
    },

    StepStarted {
        step: String,
        phase: String,
        agent: String,
        #[serde(default, skip_serializing_if = "step::is_worker")]
        role: StepRole,
        /// What it carries out of a plan. Older journals do not name it: there it follows from the plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subtask: Option<PlanPart>,
    },
    /// It was held before it began, and its subtask was changed or dropped: nothing of it has happened, and it is gone.
    StepWithdrawn {
        step: String,
    },
    /// Nothing of it starts any more; it ends when what is under way has come back. text: its output.
    StepClosed {
        step: String,
        end: StepEnd,
    },
    /// text: its output.
    StepEnded {
        step: String,
        end: StepEnd,
    },
    /// An after-step gate sent it back.
    StepRedone {
        step: String,
    },
    /// A person asked for another try after a failure.
    StepRetried {
        step: String,
    },
    /// text: what the step works on instead.
    StepInputReplaced {
        step: String,
    },
    LimitReached {
        step: String,
        limit: String,
        value: u64,
    },
    /// A person gave it a fresh budget.
    LimitLifted {
        step: String,
        /// Nobody did: the workflow lets it go on.
        #[serde(default, skip_serializing_if = "is_default")]
        unasked: bool,
    },

    /// From here on the request is out.
    ModelStarted {
        step: String,
        turn: u32,
        attempt: u32,
        epoch: u64,
        /// Results of calls are left out of it, so that it fits the window.
        #[serde(default, skip_serializing_if = "is_default")]
        shortened: bool,
    },
    /// text: the reply; data: `{"arguments": […]}`, one per call.
    ModelReplied {
        step: String,
        turn: u32,
        model: String,
        usage: Usage,
        calls: Vec<Listed>,
        #[serde(default, skip_serializing_if = "is_default")]
        stop: Stop,
    },
    /// A reply without a call does not end the step. text: what the model is told.
    EndRefused {
        step: String,
        turn: u32,
        flaw: Flaw,
    },
    /// text: the failure, without secrets.
    ModelFailed {
        step: String,
        turn: u32,
        attempt: u32,
        kind: FailureKind,
        retry_at: Option<Timestamp>,
    },
    /// A provider refused a request as too long: from here on the step's requests are kept within so many tokens.
    WindowNarrowed {
        step: String,
        window: u64,
    },
    /// A model has summed up the step's turns up to this one: later requests hold that instead. text: the summary.
    HistorySummarised {
        step: String,
        /// The step that did.
        by: String,
        until: u32,
    },
    /// No summary came of them: later requests leave out what their calls brought. text: why.
    HistoryElided {
        step: String,
        by: String,
        until: u32,
    },
    /// The process that waited for the reply is gone.
    ModelLost {
        step: String,
        turn: u32,
        attempt: u32,
    },

    /// A person interrupted it. text: what it had said by then; none where it had said nothing, or where that was lost with
    /// its process.
    ModelStopped {
        step: String,
        turn: u32,
        attempt: u32,
        /// It had said something: so the turn is there also where its text was erased.
        #[serde(default, skip_serializing_if = "is_default")]
        said: bool,
    },
    /// A person lets an agent go on whose reply was interrupted. text: what it is told.
    ReplyResumed {
        step: String,
    },

    /// data: the card.
    ToolInspected {
        call: String,
        look: Look,
    },
    /// From here on it runs where it can harm nothing.
    TrialStarted {
        call: String,
        attempt: u32,
        epoch: u64,
    },
    /// The process that tried it is gone; nothing has happened.
    TrialLost {
        call: String,
        attempt: u32,
    },
    /// text: the result that the agent reads; data: `{"changes": […], "data": …, "card": …, "layer"?: {"changes": […],
    /// "made_at": …}}`.
    ToolTried {
        call: String,
        attempt: u32,
        /// Digest of the changeset.
        changeset: Digest,
        /// Number of changed paths, folders included.
        changed: usize,
        /// Number of deleted files and links.
        deleted: usize,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ask_because: Vec<String>,
        /// Changes of the run's layer, which are not part of the changeset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        layer: Option<LayerDigest>,
    },
    /// The call of a phase that is one call: no model made it. data: its arguments.
    CallMade {
        step: String,
        call: String,
        tool: String,
    },
    /// What a tool that changes files would do, as the look before it found. text: what the model is told once it is
    /// done; data: `{"changes": […], "data": …}`.
    ChangesProposed {
        call: String,
        /// Of the changeset.
        changeset: Digest,
        changed: usize,
        deleted: usize,
    },
    /// A person keeps a part of what its trial did. data: `{"changes": […]}`, that part.
    ChangesKept {
        call: String,
        /// Of that part.
        changeset: Digest,
        changed: usize,
        deleted: usize,
    },
    /// text: why it can not be tried. Its gate votes as it is.
    TrialImpossible {
        call: String,
        attempt: u32,
    },
    /// A model was asked whether a person must decide about it. data: `{"reasons": […]}`.
    CallJudged {
        call: String,
        /// The step that judged.
        by: String,
        judgement: Judgement,
    },
    /// What the judging model said can not be read. text: what it is told.
    JudgementUnusable {
        step: String,
    },
    /// It can not be done before the calls of its reply that come before it: it is looked at again after them.
    ToolDeferred {
        call: String,
    },
    /// text: why the rule that released it allows such calls, where the rule says so.
    ToolAuthorised {
        call: String,
        digest: Digest,
        by: Authority,
        /// What a command may do with that; part of the digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<CommandEffect>,
    },
    /// From here on it may have happened.
    ToolStarted {
        call: String,
        attempt: u32,
        digest: Digest,
        epoch: u64,
        sandbox: Option<SandboxLevel>,
        /// The changes that are committed: what `tool_tried`, `changes_kept` or `changes_proposed` names.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changeset: Option<Digest>,
        /// What the sandbox lets a command do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<CommandEffect>,
    },
    /// A person stops the command, tried or started: from here on its processes are ended, and `tool_finished` tells what came
    /// of it. text: what the person says to the agent.
    ToolStopped {
        call: String,
        /// With the whole run.
        #[serde(default, skip_serializing_if = "is_default")]
        interrupted: bool,
    },
    /// text: what the model is told; data: the tool's own.
    ToolFinished {
        call: String,
        end: CallEnd,
        code: Option<String>,
    },
    /// Back to `proposed`. data: `{"arguments": …}` where a person edited them.
    ToolReturned {
        call: String,
        why: Returned,
        paths: Vec<String>,
    },
    /// The process that ran it is gone, and running it again is harmless: it reads, or it carries a commit on.
    ToolLost {
        call: String,
    },
    /// The process that ran it is gone, and nobody can know whether it happened.
    ToolDoubted {
        call: String,
    },

    /// Another agent goes on with the step. Its own call says so, and has ended.
    HandedOver {
        step: String,
        from: String,
        to: String,
        call: String,
    },

    /// data: the plan.
    PlanProposed {
        call: String,
        step: String,
        iteration: u32,
        subtasks: usize,
    },
    /// Of a planning phase: by its planner, or as a person edited it. data: the plan.
    PlanDrafted {
        phase: String,
        version: usize,
        /// The planner's step; `None`: a person wrote it.
        step: Option<String>,
        subtasks: Vec<Node>,
    },
    /// What the planner brought is no plan. text: why, as it is told.
    PlanUnusable {
        phase: String,
        step: String,
    },
    /// This is the one to carry out.
    PlanSettled {
        phase: String,
        version: usize,
    },
    /// What a person proposed instead of the plan that is carried out is not taken.
    PlanDropped {
        phase: String,
        version: usize,
    },
    /// How the next task of a copilot is done. text: why; data: `{"questions": […], "proposals": […], "refined_task": …}`.
    TaskRouted(RoutedTask),
    /// A person was asked about a task before it began, and answered or said something else. text: what its agent is told.
    TaskExtended {
        phase: String,
        /// The text is the message before it, which no step is told once more.
        #[serde(default, skip_serializing_if = "is_default")]
        told: bool,
    },
    /// A person wants another round of a copilot. text: what it works on.
    RoundWanted {
        phase: String,
        round: u32,
        #[serde(default, skip_serializing_if = "is_default")]
        new_task: bool,
        /// It remembers none of the rounds before.
        #[serde(default, skip_serializing_if = "is_default")]
        fresh: bool,
    },
    /// A person wants no further round. text: what they said with it.
    RoundsOver {
        phase: String,
    },
    /// What another agent says of the step's work; it is told, and does it again. text: the judgement.
    StepJudged {
        step: String,
        by: String,
    },
    /// The tool ran, and its result waits for a release. text: the result; data: `{title, findings, details, data}`, the
    /// last one the tool's own.
    ResultHeld {
        call: String,
        /// SHA-256 of the text.
        digest: Digest,
        level: Level,
    },
    /// data: `{title, content}` as released.
    OutputReleased {
        call: String,
        edited: bool,
        /// SHA-256 of the content, of a result that was held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Digest>,
    },

    /// data: `{title, message, payload, response_schema?, call?, labels?}`.
    InterruptOpened(Box<Opened>),
    /// text and data (the edit) as given.
    DecisionMade {
        interrupt: InterruptId,
        option: String,
        /// The person did what it would have allowed (contract E33).
        #[serde(default, skip_serializing_if = "is_default")]
        implied: bool,
        /// The sequence of the decision that first brought its edit, to compare votes by: edits may be erased. Not in version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edit_of: Option<u64>,
        /// The answer to an earlier question that this one was taken from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<InterruptId>,
        /// What it counts as; not there where that is one of the first stage, in their own name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<Seat>,
        /// How long it was shown to them before, as their client says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        viewed_ms: Option<u64>,
        /// For whom they decided, as their client says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_behalf_of: Option<String>,
        /// Open interrupts that the person wants released with the grant.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<InterruptId>,
        /// Open interrupts that their client listed, `also` first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also_shown: Vec<InterruptId>,
    },
    /// The vote of somebody counts no more.
    VoteWithdrawn {
        interrupt: InterruptId,
        by: String,
        cause: Withdrawn,
    },
    /// Others decide from here on. text: why, where a person said so.
    InterruptReassigned {
        interrupt: InterruptId,
        assignment: Box<Assignment>,
        cause: Reassigned,
    },
    InterruptDelegated {
        interrupt: InterruptId,
        delegation: Delegation,
    },
    /// text: why, where the agent that asked withdrew it and said so.
    InterruptResolved {
        interrupt: InterruptId,
        outcome: Outcome,
        option: Option<String>,
        effect: Option<Effect>,
        cause: Cause,
        /// The sequence of the `decision_made` that settled it, where one did. With the cause `grant`: the decision on
        /// another interrupt, which named this one in `also`. Not in version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<u64>,
    },

    /// The agent that asked does now what was approved, which has this digest.
    ApprovalUsed {
        interrupt: InterruptId,
        digest: Digest,
    },

    /// Somebody is at it.
    InterruptClaimed {
        interrupt: InterruptId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<Holder>,
    },
    /// Another stage is reached, or others decide: from here on it counts for them when they are reminded, and when others are
    /// asked.
    InterruptTimed {
        interrupt: InterruptId,
        /// From 0.
        stage: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalate_at: Option<Timestamp>,
    },
    /// These are told that it waits. Whoever delivers it to them reads it here.
    InterruptReminded {
        interrupt: InterruptId,
        to: Vec<String>,
        cause: Reminded,
        /// The next one; left alone where they had put it off.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
    },
    /// Nobody decided so far: others are asked.
    InterruptEscalated {
        interrupt: InterruptId,
        /// From 0.
        stage: usize,
        /// The step that is taken, from 0. Not there: no step that was left reached anybody, and admins and operators are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<usize>,
        /// Steps that reached nobody who may decide.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<usize>,
        /// How many steps are behind it now.
        steps: usize,
        /// Who may decide from here on.
        assignment: Box<Assignment>,
        /// Those who are told.
        to: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalate_at: Option<Timestamp>,
    },
    /// Somebody has put it off for themselves; `until` is not there: no more.
    InterruptSnoozed {
        interrupt: InterruptId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// Nobody is at it any more.
    InterruptReleased {
        interrupt: InterruptId,
    },
    /// text: what somebody says about it.
    CommentAdded {
        interrupt: InterruptId,
    },
    /// Somebody looked at it for the first time, over what the actor says. data: `{digest}` of what it said to them.
    InterruptViewed {
        interrupt: InterruptId,
    },
    /// What is kept as the answer from here on; the agent has heard the one before. text and data: as `decision_made`.
    AnswerCorrected {
        interrupt: InterruptId,
    },
    /// The answer to a question is kept no longer. The content of these events of the run was erased with it. text and
    /// data: how the run ended, without the answer, where the event that said so is one of them.
    AnswerErased {
        interrupt: InterruptId,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        events: Vec<u64>,
    },

    /// Nothing of what these events of the run said is kept, from the first to the last; whatever they were, they stay.
    ContentErased {
        from: u64,
        to: u64,
        because: Erased,
    },
    /// What the run said may not be erased until somebody lifts that. text: why.
    LegalHoldPlaced,
    LegalHoldLifted,

    /// text: what a person told the run.
    MessageAdded,
    /// A person has taken back changes that its agents may rely on. text: what they are told of it.
    ChangesUndone {
        /// The run that took them back.
        by: RunId,
    },
    /// text: feedback or guidance that came with a decision.
    NoteAdded {
        step: String,
        interrupt: InterruptId,
        /// Steps that start later hear it too.
        #[serde(default, skip_serializing_if = "is_default")]
        later: bool,
    },
}
