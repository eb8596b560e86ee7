//! Facts: what can happen in a run, in the past tense. Texts and arguments are not facts but content of the event.
//!
//! The comment of each fact names the event's content: `text` and `data` are the fields of
//! [`crate::envelope::Content`].

mod call;
mod reason;
mod step;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub(super) use call::LayerDigest;
pub use call::{Authority, CallEnd, InspectionFacts, Judgement, Listed, ReturnReason};
pub use reason::{ErasureReason, ReassignmentReason, WithdrawalReason};
pub use step::{Node, PlanPart, RoutedBy, RoutedTask, StepEnd, StepRole};

use super::action::ActionId;
use super::config::{Config, Origin};
use crate::definition::Phase;
use crate::digest::Digest;
use crate::id::{InterruptId, RunId, SessionId};
use crate::interrupt::{
    Assignment, Cause, ClaimHolder, Delegation, Effect, Opened, Outcome, ReminderReason, Seat,
};
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
        /// True if a message in the session began the run. The run then has the front of the conversation.
        #[serde(default, skip_serializing_if = "is_default")]
        front: bool,
        /// Trace of the caller, if the caller named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceParent>,
    },
    /// A node took over work that was in flight when another node stopped, or when this one restarted.
    Adopted {
        epoch: u64,
        /// Actions that the node still performs itself. They belong to this epoch from here on.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        kept: BTreeSet<ActionId>,
    },
    RunPaused,
    RunResumed,
    /// A person interrupted the run. Running work stops, and each model call in progress ends as `model_stopped`.
    RunInterrupted,
    /// The session was suspended. The run rests until the session is resumed.
    RunSuspended,
    /// The session was resumed.
    RunUnsuspended,
    /// data: the result.
    RunCompleted {
        reason: String,
    },
    /// text: the error.
    RunFailed {
        reason: String,
    },
    /// text: the reason, if one was given.
    RunCancelled {
        reason: String,
    },

    PhaseStarted {
        phase: String,
    },
    /// text: the reason, if a phase that a call began did not end well.
    PhaseEnded {
        phase: String,
        end: StepEnd,
    },
    /// A call began a phase of its own. text: the input of the phase.
    PhaseCalled {
        call: String,
        /// Index in a chain of phases, from 0.
        #[serde(default, skip_serializing_if = "is_default")]
        nth: usize,
        /// Form of the phase, without its texts.
        phase: Box<Phase>,
    },

    StepStarted {
        step: String,
        phase: String,
        agent: String,
        #[serde(default, skip_serializing_if = "step::is_worker")]
        role: StepRole,
        /// Part of a plan that the step carries out. Older journals do not name it; there it follows from the plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subtask: Option<PlanPart>,
    },
    /// The step was held before it began, and its subtask was changed or dropped. The step did nothing and is removed.
    StepWithdrawn {
        step: String,
    },
    /// The step starts no further work, and ends when the work in progress has returned. text: its output.
    StepClosed {
        step: String,
        end: StepEnd,
    },
    /// text: the output of the step.
    StepEnded {
        step: String,
        end: StepEnd,
    },
    /// A gate after the step sent the step back.
    StepRedone {
        step: String,
    },
    /// A person asked for another try after a failure.
    StepRetried {
        step: String,
    },
    /// text: the new input of the step.
    StepInputReplaced {
        step: String,
    },
    LimitReached {
        step: String,
        limit: String,
        value: u64,
    },
    /// The step received a fresh budget.
    LimitLifted {
        step: String,
        /// True if the workflow granted it without asking a person.
        #[serde(default, skip_serializing_if = "is_default")]
        unasked: bool,
    },

    /// From this event on, the request may have been sent.
    ModelStarted {
        step: String,
        turn: u32,
        attempt: u32,
        epoch: u64,
        /// True if results of calls are left out of the request, so that it fits the window.
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
    /// A reply without a call did not end the step. text: the message to the model.
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
    /// A provider refused a request as too long. Later requests of the step keep within this number of tokens.
    WindowNarrowed {
        step: String,
        window: u64,
    },
    /// A model summed up the step's turns up to `until`. Later requests hold the summary instead. text: the summary.
    HistorySummarised {
        step: String,
        /// Step that summed up.
        by: String,
        until: u32,
    },
    /// The turns could not be summed up. Later requests leave out the results of their calls. text: the reason.
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

    /// A person interrupted the model call. text: the reply up to then; none if there was none, or if it was lost with
    /// its process.
    ModelStopped {
        step: String,
        turn: u32,
        attempt: u32,
        /// True if the model had replied in part. The turn then exists even if its text was erased.
        #[serde(default, skip_serializing_if = "is_default")]
        said: bool,
    },
    /// A person let an agent continue after an interrupted reply. text: the message to the agent.
    ReplyResumed {
        step: String,
    },

    /// data: the card.
    ToolInspected {
        call: String,
        look: InspectionFacts,
    },
    /// From this event on, the call may be running in a trial, where it can do no harm.
    TrialStarted {
        call: String,
        attempt: u32,
        epoch: u64,
    },
    /// The process that ran the trial is gone. The call had no effect.
    TrialLost {
        call: String,
        attempt: u32,
    },
    /// text: the result that the agent reads; data:
    /// `{"changes": […], "data": …, "card": …, "layer"?: {"changes": […], "made_at": …}}`.
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
    /// A phase that is a single call made the call, without a model. data: its arguments.
    CallMade {
        step: String,
        call: String,
        tool: String,
    },
    /// Changes that a file tool would make, as its inspection found. text: the message to the model once they are made;
    /// data: `{"changes": […], "data": …}`.
    ChangesProposed {
        call: String,
        /// Digest of the changeset.
        changeset: Digest,
        changed: usize,
        deleted: usize,
    },
    /// A person keeps a part of the changes of a trial. data: `{"changes": […]}`, that part.
    ChangesKept {
        call: String,
        /// Digest of that part.
        changeset: Digest,
        changed: usize,
        deleted: usize,
    },
    /// The call cannot be tried, and its gate votes without a trial. text: the reason.
    TrialImpossible {
        call: String,
        attempt: u32,
    },
    /// A model judged whether a person must decide about the call. data: `{"reasons": […]}`.
    CallJudged {
        call: String,
        /// Step that judged.
        by: String,
        judgement: Judgement,
    },
    /// The reply of the judging model cannot be read. text: the message to that model.
    JudgementUnusable {
        step: String,
    },
    /// The call cannot be done before the calls of its reply that precede it. It is inspected again after them.
    ToolDeferred {
        call: String,
    },
    /// text: the reason of the rule that released the call, if the rule gives one.
    ToolAuthorised {
        call: String,
        digest: Digest,
        by: Authority,
        /// Effect that the command is limited to. Part of the digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<CommandEffect>,
    },
    /// From this event on, the call may have taken effect.
    ToolStarted {
        call: String,
        attempt: u32,
        digest: Digest,
        epoch: u64,
        sandbox: Option<SandboxLevel>,
        /// Digest of the changes to commit, as in `tool_tried`, `changes_kept` or `changes_proposed`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changeset: Option<Digest>,
        /// Effect that the sandbox allows the command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<CommandEffect>,
    },
    /// A person stopped the command in its trial or its run. Its processes are ended from this event on, and
    /// `tool_finished` reports the outcome. text: the person's message to the agent.
    ToolStopped {
        call: String,
        /// True if the whole run was interrupted.
        #[serde(default, skip_serializing_if = "is_default")]
        interrupted: bool,
    },
    /// text: the result for the model; data: the tool's own data.
    ToolFinished {
        call: String,
        end: CallEnd,
        code: Option<String>,
    },
    /// The call is `proposed` again. data: `{"arguments": …}` if a person edited them.
    ToolReturned {
        call: String,
        why: ReturnReason,
        paths: Vec<String>,
    },
    /// The process that ran the call is gone. Running it again is harmless: it only reads, or it continues a commit.
    ToolLost {
        call: String,
    },
    /// It is unknown whether the call took effect, for example because its process is gone.
    ToolDoubted {
        call: String,
    },

    /// Another agent continues the step. The call that handed it over has ended.
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
    /// A planner or a person drafted a version of a planning phase's plan. data: the plan.
    PlanDrafted {
        phase: String,
        version: usize,
        /// The planner's step. `None` if a person wrote the plan.
        step: Option<String>,
        subtasks: Vec<Node>,
    },
    /// The planner did not deliver a usable plan. text: the message to the planner.
    PlanUnusable {
        phase: String,
        step: String,
    },
    /// This version of the plan is carried out.
    PlanSettled {
        phase: String,
        version: usize,
    },
    /// The plan that a person proposed to replace the current one was dropped.
    PlanDropped {
        phase: String,
        version: usize,
    },
    /// The next task of a copilot was routed. text: the reason; data:
    /// `{"questions": […], "proposals": […], "refined_task": …}`.
    TaskRouted(RoutedTask),
    /// A person was asked about a task before it began, and answered or wrote a message. text: the message to its
    /// agent.
    TaskExtended {
        phase: String,
        /// True if the text is the preceding message. Steps do not receive that message a second time.
        #[serde(default, skip_serializing_if = "is_default")]
        told: bool,
    },
    /// A person wants another round of a copilot. text: its task.
    RoundWanted {
        phase: String,
        round: u32,
        #[serde(default, skip_serializing_if = "is_default")]
        new_task: bool,
        /// True if the round remembers none of the earlier rounds.
        #[serde(default, skip_serializing_if = "is_default")]
        fresh: bool,
    },
    /// A person wants no further round. text: their comment.
    RoundsOver {
        phase: String,
    },
    /// Another agent judged the step's work. The step receives the judgement and works again. text: the judgement.
    StepJudged {
        step: String,
        by: String,
    },
    /// The tool ran, and its result awaits a release. text: the result; data: `{title, findings, details, data}`, where
    /// `data` is the tool's own.
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
        /// SHA-256 of the content, for a result that was held.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Digest>,
    },

    /// data: `{title, message, payload, response_schema?, call?, labels?}`.
    InterruptOpened(Box<Opened>),
    /// text and data (the edit) as given.
    DecisionMade {
        interrupt: InterruptId,
        option: String,
        /// True if the person did themselves what the decision would have allowed (contract E33).
        #[serde(default, skip_serializing_if = "is_default")]
        implied: bool,
        /// Sequence of the decision that first brought this edit. Votes are compared by it, because edits may be
        /// erased. Absent in version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edit_of: Option<u64>,
        /// Earlier question whose answer was reused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<InterruptId>,
        /// Seat of the vote. Absent for a vote in the first stage in the voter's own name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<Seat>,
        /// Time for which the interrupt was shown to the person, in milliseconds, as reported by the client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        viewed_ms: Option<u64>,
        /// Person on whose behalf they decided, as reported by the client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_behalf_of: Option<String>,
        /// Open interrupts that the person wants to release with the grant.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<InterruptId>,
        /// Open interrupts that the client listed, `also` first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also_shown: Vec<InterruptId>,
    },
    /// A vote was withdrawn.
    VoteWithdrawn {
        interrupt: InterruptId,
        by: String,
        cause: WithdrawalReason,
    },
    /// Other people decide from here on. text: the reason, if a person gave one.
    InterruptReassigned {
        interrupt: InterruptId,
        assignment: Box<Assignment>,
        cause: ReassignmentReason,
    },
    InterruptDelegated {
        interrupt: InterruptId,
        delegation: Delegation,
    },
    /// text: the reason, if the asking agent withdrew the interrupt and gave one.
    InterruptResolved {
        interrupt: InterruptId,
        outcome: Outcome,
        option: Option<String>,
        effect: Option<Effect>,
        cause: Cause,
        /// Sequence of the `decision_made` that settled the interrupt, if one did. With the cause `grant`, it is the
        /// decision on another interrupt that named this one in `also`. Absent in version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<u64>,
    },

    /// The asking agent now performs the approved action, which has this digest.
    ApprovalUsed {
        interrupt: InterruptId,
        digest: Digest,
    },

    /// A person claimed the interrupt.
    InterruptClaimed {
        interrupt: InterruptId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<ClaimHolder>,
    },
    /// Another stage was reached, or the approvers changed. Reminders and escalations are timed from this event on.
    InterruptTimed {
        interrupt: InterruptId,
        /// Index of the stage, from 0.
        stage: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalate_at: Option<Timestamp>,
    },
    /// These people are reminded of the interrupt. The delivery reads its recipients from this event.
    InterruptReminded {
        interrupt: InterruptId,
        to: Vec<String>,
        cause: ReminderReason,
        /// Time of the next reminder. Unchanged if the interrupt had been snoozed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
    },
    /// No decision came in time, and other people are asked.
    InterruptEscalated {
        interrupt: InterruptId,
        /// Index of the stage, from 0.
        stage: usize,
        /// Escalation step that is taken, from 0. Absent if no remaining step reached a person: admins and operators
        /// are asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<usize>,
        /// Steps that reached no approver.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<usize>,
        /// Number of escalation steps passed so far.
        steps: usize,
        /// Approvers from here on.
        assignment: Box<Assignment>,
        /// Recipients of the notification.
        to: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalate_at: Option<Timestamp>,
    },
    /// A person snoozed the interrupt for themselves. An absent `until` ends the snooze.
    InterruptSnoozed {
        interrupt: InterruptId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The claim on the interrupt was released.
    InterruptReleased {
        interrupt: InterruptId,
    },
    /// text: the comment.
    CommentAdded {
        interrupt: InterruptId,
    },
    /// A person viewed the interrupt for the first time, through the channel of the actor. data: `{digest}` of what was
    /// shown.
    InterruptViewed {
        interrupt: InterruptId,
    },
    /// The stored answer was corrected. The agent has received the earlier one. text and data: as in `decision_made`.
    AnswerCorrected {
        interrupt: InterruptId,
    },
    /// The answer to a question was erased, with the content of these events of the run. text and data: the end of the
    /// run without the answer, if the event that holds it is one of them.
    AnswerErased {
        interrupt: InterruptId,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        events: Vec<u64>,
    },

    /// The content of the run's events from `from` to `to` was erased. The events themselves stay.
    ContentErased {
        from: u64,
        to: u64,
        because: ErasureReason,
    },
    /// The content of the run may not be erased until the hold is lifted. text: the reason.
    LegalHoldPlaced,
    LegalHoldLifted,

    /// text: the message of a person to the run.
    MessageAdded,
    /// A person undid changes that the run's agents may rely on. text: the message to the agents.
    ChangesUndone {
        /// Run that undid the changes.
        by: RunId,
    },
    /// text: feedback or guidance that came with a decision.
    NoteAdded {
        step: String,
        interrupt: InterruptId,
        /// True if steps that start later receive the note, too.
        #[serde(default, skip_serializing_if = "is_default")]
        later: bool,
    },
}
