//! Facts that can happen in a run, named in the past tense. Texts and arguments are content of the event, not part of
//! the fact.
//!
//! The comment of each fact describes the content of its event. Text and data are the fields of
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
    Assignment, Cause, ClaimHolder, Delegation, Effect, ExecOutcome, Opened, Outcome, ReminderReason, Seat,
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
    /// The run started. The event's data is the input of the run.
    RunStarted {
        session: SessionId,
        workflow: String,
        definition: Digest,
        config: Config,
        origin: Origin,
        /// True if a message in the session began the run. The run is then the front run of the session: messages that
        /// people send to the session go to this run.
        #[serde(default, skip_serializing_if = "is_default")]
        front: bool,
        /// Trace context that the caller sent when it started the run, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceParent>,
    },
    /// A server node continues running work of the run that another node started before it stopped, or its own work
    /// after a restart.
    Adopted {
        epoch: u64,
        /// Actions that the driver has started and that still run on this node. These actions continue, and belong to
        /// the node's new epoch after the event `adopted`.
        #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
        kept: BTreeSet<ActionId>,
    },
    RunPaused,
    RunResumed,
    /// A person interrupted the run. Running work stops, and each model call in progress ends with `model_stopped`.
    RunInterrupted,
    /// The session was suspended. The run does no new work until the session is resumed.
    RunSuspended,
    /// The session was resumed, so the run can do new work again.
    RunUnsuspended,
    /// The run completed. The event's data is the result of the run.
    RunCompleted {
        reason: String,
    },
    /// The run failed. The event's text is the error.
    RunFailed {
        reason: String,
    },
    /// The run was cancelled. The event's text is the reason, if a person gave a reason.
    RunCancelled {
        reason: String,
    },

    PhaseStarted {
        phase: String,
    },
    /// The phase ended. The event's text is the reason, if a tool call began the phase and the phase did not complete.
    PhaseEnded {
        phase: String,
        end: StepEnd,
    },
    /// A tool call began a phase. The event's text is the input of the phase.
    PhaseCalled {
        call: String,
        /// Position of the phase in the chain of phases that the tool call began, from 0.
        #[serde(default, skip_serializing_if = "is_default")]
        nth: usize,
        /// Phase that the tool call began, without its texts.
        phase: Box<Phase>,
    },

    StepStarted {
        step: String,
        phase: String,
        agent: String,
        #[serde(default, skip_serializing_if = "step::is_worker")]
        role: StepRole,
        /// Subtask of the plan that the step carries out. Journals of earlier versions do not contain the subtask,
        /// which is then derived from the plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subtask: Option<PlanPart>,
    },
    /// The step was withdrawn: a person was asked before the step began, and the subtask was changed or dropped before
    /// the person answered. The step did no work and is removed.
    StepWithdrawn {
        step: String,
    },
    /// The step starts no further work, and ends when its running work has ended. The event's text is the output of the
    /// step.
    StepClosed {
        step: String,
        end: StepEnd,
    },
    /// The step ended. The event's text is the output of the step.
    StepEnded {
        step: String,
        end: StepEnd,
    },
    /// A person decided, at the gate after the step, that the step starts again.
    StepRedone {
        step: String,
    },
    /// A person asked to retry the step after a failure.
    StepRetried {
        step: String,
    },
    /// The input of the step was replaced. The event's text is the new input.
    StepInputReplaced {
        step: String,
    },
    LimitReached {
        step: String,
        limit: String,
        value: u64,
    },
    /// The step received a new budget after it reached a limit.
    LimitLifted {
        step: String,
        /// True if the workflow granted the step's new budget without asking a person.
        #[serde(default, skip_serializing_if = "is_default")]
        unasked: bool,
    },

    /// A model call of the step started. After this event, the request was possibly sent to the provider.
    ModelStarted {
        step: String,
        turn: u32,
        attempt: u32,
        epoch: u64,
        /// True if the model request leaves out results of tool calls in order to fit into the model's context window.
        #[serde(default, skip_serializing_if = "is_default")]
        shortened: bool,
    },
    /// The model replied. The event's text is the reply. The event's data is `{"arguments": […]}`, one element per tool
    /// call.
    ModelReplied {
        step: String,
        turn: u32,
        model: String,
        usage: Usage,
        calls: Vec<Listed>,
        #[serde(default, skip_serializing_if = "is_default")]
        stop: Stop,
    },
    /// A model reply without a tool call did not end the step. The event's text is the message that tells the model the
    /// reason.
    EndRefused {
        step: String,
        turn: u32,
        flaw: Flaw,
    },
    /// The model call of the step failed. The event's text is the error, without secrets.
    ModelFailed {
        step: String,
        turn: u32,
        attempt: u32,
        kind: FailureKind,
        retry_at: Option<Timestamp>,
    },
    /// A model provider refused a request because the request was too long. Later requests of the step stay below
    /// `window` tokens.
    WindowNarrowed {
        step: String,
        window: u64,
    },
    /// A model summarised the step's turns up to `until`. Later requests contain the summary instead of these turns.
    /// The event's text is the summary.
    HistorySummarised {
        step: String,
        /// Step that wrote the summary of the other step's turns.
        by: String,
        until: u32,
    },
    /// The step's turns up to `until` could not be summarised. Later requests leave out the results of the tool calls
    /// in these turns. The event's text is the reason.
    HistoryElided {
        step: String,
        by: String,
        until: u32,
    },
    /// The process that waited for the model's reply has stopped.
    ModelLost {
        step: String,
        turn: u32,
        attempt: u32,
    },

    /// A person interrupted the model call. The event's text is the part of the reply that had arrived. The text is
    /// absent if no part had arrived, or if the part was lost because the process stopped.
    ModelStopped {
        step: String,
        turn: u32,
        attempt: u32,
        /// True if part of the model's reply had arrived. The interrupted reply then belongs to the conversation, even
        /// after its text was erased.
        #[serde(default, skip_serializing_if = "is_default")]
        said: bool,
    },
    /// A person let an agent continue after the agent's reply was interrupted. The event's text is the message to the
    /// agent.
    ReplyResumed {
        step: String,
    },

    /// The tool call was inspected. The event's data is the approval card of the call.
    ToolInspected {
        call: String,
        look: InspectionFacts,
    },
    /// A trial of the tool call started. After this event, the call is possibly running in the trial. A trial cannot
    /// change the workspace.
    TrialStarted {
        call: String,
        attempt: u32,
        epoch: u64,
    },
    /// The process that ran the trial of the tool call has stopped. The trial had no effect.
    TrialLost {
        call: String,
        attempt: u32,
    },
    /// The trial of the tool call ended. The event's text is the result that the agent reads. The event's data is
    /// `{"changes": […], "data": …, "card": …, "layer"?: {"changes": […], "made_at": …}}`.
    ToolTried {
        call: String,
        attempt: u32,
        /// Digest of the changes that the trial of the tool call made.
        changeset: Digest,
        /// Number of paths that the trial changed, including directories.
        changed: usize,
        /// Number of files and links that the trial deleted.
        deleted: usize,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ask_because: Vec<String>,
        /// Changes that the trial made to ignored files, which only this run sees. These changes are not part of the
        /// changeset.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        layer: Option<LayerDigest>,
    },
    /// A phase that consists of a single tool call made its call without a model. The event's data is the arguments of
    /// the call.
    CallMade {
        step: String,
        call: String,
        tool: String,
    },
    /// The inspection of a file tool found the changes that the tool would make. The event's text is the message that
    /// the model gets after the changes are made. The event's data is `{"changes": […], "data": …}`.
    ChangesProposed {
        call: String,
        /// Digest of the changes that the file tool proposes.
        changeset: Digest,
        changed: usize,
        deleted: usize,
    },
    /// A person approved only some of the changes of a tool call's trial. The event's data is `{"changes": […]}`, the
    /// approved changes.
    ChangesKept {
        call: String,
        /// Digest of those changes of the trial that the person approved.
        changeset: Digest,
        changed: usize,
        deleted: usize,
    },
    /// A trial of the tool call is impossible, so the approval gates vote without a trial. The event's text is the
    /// reason.
    TrialImpossible {
        call: String,
        attempt: u32,
    },
    /// A model judged whether a person must decide on the tool call. The event's data is `{"reasons": […]}`.
    CallJudged {
        call: String,
        /// Step of the model that judged the tool call.
        by: String,
        judgement: Judgement,
    },
    /// The reply of the judging model is unreadable. The event's text is the message that tells the judging model how
    /// to reply.
    JudgementUnusable {
        step: String,
    },
    /// The tool call must wait for earlier calls of the same reply. After the earlier calls, the tool call is inspected
    /// again.
    ToolDeferred {
        call: String,
    },
    /// The tool call was allowed to start. The event's text is the reason that the rule states, if a rule allowed the
    /// call.
    ToolAuthorised {
        call: String,
        digest: Digest,
        by: Authority,
        /// Effect that the allowed command is permitted to have. The digest that binds an approval includes this
        /// effect.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<CommandEffect>,
    },
    /// The tool call started. After this event, the call has possibly had an effect.
    ToolStarted {
        call: String,
        attempt: u32,
        digest: Digest,
        epoch: u64,
        sandbox: Option<SandboxLevel>,
        /// Digest of the changes that the tool call commits. An earlier event `tool_tried`, `changes_kept` or
        /// `changes_proposed` has the same digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        changeset: Option<Digest>,
        /// Effect that the command is permitted to have inside the sandbox.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<CommandEffect>,
    },
    /// A person stopped the command during its trial or during its run. After this event, the processes of the command
    /// are ended, and `tool_finished` reports the outcome. The event's text is the person's message to the agent.
    ToolStopped {
        call: String,
        /// True if the person interrupted the whole run, and not only the command of this tool call.
        #[serde(default, skip_serializing_if = "is_default")]
        interrupted: bool,
    },
    /// The tool call ended. The event's text is the result for the model. The event's data is data that the tool
    /// reports.
    ToolFinished {
        call: String,
        end: CallEnd,
        code: Option<String>,
    },
    /// The state of the tool call became `proposed` again. The event's data is `{"arguments": …}` if a person edited
    /// the arguments.
    ToolReturned {
        call: String,
        why: ReturnReason,
        paths: Vec<String>,
    },
    /// The process that ran the tool call has stopped. The call only reads, or continues a commit, so it can be
    /// repeated without harm.
    ToolLost {
        call: String,
    },
    /// The effect of the tool call is unknown, for example because the process that ran the call has stopped.
    ToolDoubted {
        call: String,
    },

    /// A different agent continues the step. The tool call that handed the step over to this agent has ended.
    HandedOver {
        step: String,
        from: String,
        to: String,
        call: String,
    },

    /// An agent proposed a plan for the work of its own step. The event's data is the plan.
    PlanProposed {
        call: String,
        step: String,
        iteration: u32,
        subtasks: usize,
    },
    /// A planner or a person drafted a version of the plan of a planning phase. The event's data is the plan.
    PlanDrafted {
        phase: String,
        version: usize,
        /// Step of the planner that drafted the plan. `None` if a person wrote the plan.
        step: Option<String>,
        subtasks: Vec<Node>,
    },
    /// The plan that the planner wrote is unusable. The event's text is the message that tells the planner why.
    PlanUnusable {
        phase: String,
        step: String,
    },
    /// A version of the plan was approved, or needed no approval. Agents carry out this version.
    PlanSettled {
        phase: String,
        version: usize,
    },
    /// A new version of the plan, which a person had proposed, was dropped.
    PlanDropped {
        phase: String,
        version: usize,
    },
    /// A route was selected for the next task of a copilot. The event's text is the reason for the route. The event's
    /// data is `{"questions": […], "proposals": […], "refined_task": …}`.
    TaskRouted(RoutedTask),
    /// A person was asked about a task before work on the task began, and answered or wrote a message. The event's text
    /// is the message to the agent that works on the task.
    TaskExtended {
        phase: String,
        /// True if an earlier message event of the run already contains the event's text. Steps then get the text only
        /// once.
        #[serde(default, skip_serializing_if = "is_default")]
        told: bool,
    },
    /// A person asked a copilot for a further round. The event's text is the task of the round.
    RoundWanted {
        phase: String,
        round: u32,
        #[serde(default, skip_serializing_if = "is_default")]
        new_task: bool,
        /// True if the new round of the copilot starts without the history of earlier rounds.
        #[serde(default, skip_serializing_if = "is_default")]
        fresh: bool,
    },
    /// A person ended the rounds of a copilot. The event's text is the person's comment.
    RoundsOver {
        phase: String,
    },
    /// A second agent judged the work of the step. The step receives the judgement and continues. The event's text is
    /// the judgement.
    StepJudged {
        step: String,
        by: String,
    },
    /// The tool ran, and its result waits for a review. The agent gets the result only after a person approves the
    /// result. The event's text is the result. The event's data is `{title, findings, details, data}`, where the inner
    /// `data` is data that the tool reports.
    ResultHeld {
        call: String,
        /// SHA-256 of the tool's result text that waits for a review.
        digest: Digest,
        level: Level,
    },
    /// A review approved an output of the run. The event's data is `{title, content}` of the output.
    OutputReleased {
        call: String,
        edited: bool,
        /// SHA-256 of the approved content. Present only if the approved output is the result of a tool.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<Digest>,
    },

    /// An interrupt was opened. The event's data is `{title, message, payload, response_schema?, call?, labels?}`.
    InterruptOpened(Box<Opened>),
    /// A person voted on the interrupt. The event's text and data are the text and the edit of the vote.
    DecisionMade {
        interrupt: InterruptId,
        option: String,
        /// True if the person did not vote explicitly, but did something that implies the vote (contract E33).
        #[serde(default, skip_serializing_if = "is_default")]
        implied: bool,
        /// Sequence number of the first decision on the interrupt with the same edit. Votes are compared by this
        /// number, because the edits themselves may be erased. Absent in events of version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        edit_of: Option<u64>,
        /// Earlier question whose answer was reused for this interrupt, if an answer was reused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<InterruptId>,
        /// Seat of the vote: the stage in which the vote counts, and the person whom the voter represents. Absent if
        /// the voter voted under their own name in the first stage.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seat: Option<Seat>,
        /// Time for which the interrupt was displayed to the person before the decision, in milliseconds, as the client
        /// reports it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        viewed_ms: Option<u64>,
        /// Person that the voter acts for, as the client reports.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        on_behalf_of: Option<String>,
        /// Further open interrupts that the decision also approves, because they match the grant that the decision
        /// gives.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also: Vec<InterruptId>,
        /// Open interrupts that the client showed to the person together with the interrupt of the decision. The
        /// interrupts in `also` come first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        also_shown: Vec<InterruptId>,
    },
    /// A person's vote on the interrupt was withdrawn.
    VoteWithdrawn {
        interrupt: InterruptId,
        by: String,
        cause: WithdrawalReason,
    },
    /// The interrupt was assigned to new approvers. The event's text is the reason for the reassignment, if a person
    /// gave one.
    InterruptReassigned {
        interrupt: InterruptId,
        assignment: Box<Assignment>,
        cause: ReassignmentReason,
    },
    InterruptDelegated {
        interrupt: InterruptId,
        delegation: Delegation,
    },
    /// The interrupt was resolved. The event's text is the reason why the asking agent withdrew the interrupt, if the
    /// agent gave one.
    InterruptResolved {
        interrupt: InterruptId,
        outcome: Outcome,
        option: Option<String>,
        effect: Option<Effect>,
        cause: Cause,
        /// Sequence number of the event `decision_made` that decided the interrupt. If the cause is `grant`, this event
        /// decided a different interrupt, and names the resolved interrupt in `also`. Absent if no vote decided the
        /// interrupt, and in events of version 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decision: Option<u64>,
    },

    /// The external agent that asked starts the approved action. `digest` is the digest of the action.
    ApprovalUsed {
        interrupt: InterruptId,
        digest: Digest,
    },

    /// The external agent that asked reported the outcome of writing the approved changes. The event's text is the
    /// reason why the agent did not write the changes.
    ExecReported {
        interrupt: InterruptId,
        outcome: ExecOutcome,
    },

    /// A person claimed the interrupt.
    InterruptClaimed {
        interrupt: InterruptId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        holder: Option<ClaimHolder>,
    },
    /// The interrupt reached a new stage, or its approvers changed. The delays of reminders and escalations start at
    /// this event.
    InterruptTimed {
        interrupt: InterruptId,
        /// Index of the interrupt's current stage, from 0.
        stage: usize,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalate_at: Option<Timestamp>,
    },
    /// The people in `to` are reminded of the interrupt. Notifications of the reminder are sent to these people.
    InterruptReminded {
        interrupt: InterruptId,
        to: Vec<String>,
        cause: ReminderReason,
        /// Time of the interrupt's next reminder. Absent for a reminder at the end of a snooze. Such a reminder does
        /// not change the time of the next regular reminder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
    },
    /// Further people are asked about the interrupt, because nobody decided in time.
    InterruptEscalated {
        interrupt: InterruptId,
        /// Index of the interrupt's current stage, from 0.
        stage: usize,
        /// Index of the interrupt's escalation step that is taken, from 0. Absent if no remaining step names a person
        /// who can decide. Admins and operators are then asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<usize>,
        /// Indexes of the interrupt's escalation steps that were skipped, because the steps name nobody who can decide.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<usize>,
        /// Number of the interrupt's escalation steps taken or skipped so far.
        steps: usize,
        /// Approvers of the escalated interrupt after this event.
        assignment: Box<Assignment>,
        /// Recipients of the notification about the escalation.
        to: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remind_at: Option<Timestamp>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        escalate_at: Option<Timestamp>,
    },
    /// A person snoozed the interrupt for themselves. If `until` is absent, the snooze of the person ended.
    InterruptSnoozed {
        interrupt: InterruptId,
        by: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// The person or client that had claimed the interrupt gave up the claim.
    InterruptReleased {
        interrupt: InterruptId,
    },
    /// A person commented on the interrupt. The event's text is the comment.
    CommentAdded {
        interrupt: InterruptId,
    },
    /// A person viewed the open interrupt for the first time. The event's data is `{digest}`, with the digest of the
    /// content that was shown.
    InterruptViewed {
        interrupt: InterruptId,
    },
    /// A person corrected a stored answer after the agent had received the earlier answer. The event's text and data
    /// are as in `decision_made`.
    AnswerCorrected {
        interrupt: InterruptId,
    },
    /// The answer to a question was erased, together with the content of the listed events of the run. If the list
    /// contains the event that ended the run, `text` and `data` repeat the end of the run without the answer.
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
    /// A person placed a legal hold on the run. The content of the run may not be erased until the hold is lifted. The
    /// event's text is the reason for the hold.
    LegalHoldPlaced,
    LegalHoldLifted,

    /// A message for the agents of the run was added: a message that a person sent, or a text about a decision. The
    /// event's text is the message.
    MessageAdded,
    /// A person undid changes on which the agents of this run may have built. The event's text is the message that
    /// tells the agents.
    ChangesUndone {
        /// Run that undid the changes. The undoing run is never the run to which the event belongs.
        by: RunId,
    },
    /// A note for agents was added. The event's text is feedback or guidance that a person gave with a decision.
    NoteAdded {
        step: String,
        interrupt: InterruptId,
        /// True if steps that start later get the note, too.
        #[serde(default, skip_serializing_if = "is_default")]
        later: bool,
    },
}
