//! Parts of a run's state: phases, steps and calls. Only `apply` changes the state.

use std::sync::Arc;

use serde_json::Value;

use super::fact::{Authority, CallEnd, InspectionFacts, Judgement, StepEnd, StepRole};
use crate::changeset::Changeset;
use crate::definition::Phase;
use crate::digest::Digest;
use crate::gate::Reason;
use crate::id::InterruptId;
use crate::message::{FailureKind, Stop};
use crate::plan::Plan;
use crate::pricing::Cost;
use crate::routing::Routed;
use crate::shared::{Open, SharedList, SharedMap};
use crate::time::Timestamp;
use crate::tool::{CommandEffect, LayerChanges};

/// State of a step after the step's last failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trouble {
    #[default]
    None,
    /// The step failed or reached a limit, and a person was asked for a decision.
    Stuck,
    /// A person had the step retried, and the step has not failed since then.
    Retried,
}

/// Work of one agent in a phase of a run, turn by turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub phase: String,
    pub role: StepRole,
    /// Id of the subtask of the plan that the step carries out.
    pub subtask: Option<String>,
    /// Tool call about which the step gives a judgement. Set only for steps with the role [`StepRole::Overseer`].
    pub judges: Option<String>,
    /// Id of another step whose old turns the step summarises. Set only for steps with the role
    /// [`StepRole::Summariser`].
    pub summarises: Option<String>,
    /// Agent that currently works on the step.
    pub agent: String,
    pub end: Option<StepEnd>,
    /// Outcome with which the step will end as soon as its running tool calls have ended.
    pub closing: Option<StepEnd>,
    /// Interrupt that stops the whole step. Interrupts about single tool calls of the step are stored with these calls
    /// instead.
    pub blocked: Option<InterruptId>,
    pub entries: SharedList<Entry>,
    /// Number of turns of the step so far.
    pub turn: u32,
    pub model: ModelCall,
    /// Time at which the step's last model request started or ended. Before the first request, the time at which the
    /// step started.
    pub model_at: Timestamp,
    /// True if a person interrupted the running model call of the step.
    pub stopped: bool,
    /// Number of entries of the step's conversation that the running model request contains. Entries that are added
    /// during the request are placed after its reply.
    pub sent: usize,
    /// True if the agent of the step has been asked at least once. False for a step that was skipped before its agent
    /// did any work.
    pub begun: bool,
    /// Number of model calls of the step that failed in a row.
    pub failures: u32,
    pub trouble: Trouble,
    /// Number of the agent's replies that did not end the step. The count restarts each time that a person sends a text
    /// to the step.
    pub refused_ends: u32,
    pub last_failure: Option<(FailureKind, Arc<str>)>,
    pub retry_at: Option<Timestamp>,
    /// Number of consecutive crashes of the server process during the step. The count restarts when the step makes
    /// progress.
    pub crashes: u32,
    /// Usage of the step since its last new budget. This usage is compared with the limits of the step.
    pub used: Used,
    /// Number of new budgets that the step received. `continued_unasked` counts only budgets that were given without
    /// asking a person.
    pub continued: u32,
    pub continued_unasked: u32,
    pub redos: u32,
    /// Number of times that people had the step retried.
    pub retries: u32,
    /// Number of the step's turn with failed tool calls on which a person has already decided.
    pub excused: u32,
    /// Number of plans that the step proposed.
    pub plans: u32,
    /// Number of judgements that the step received.
    pub judged: u32,
    /// State of shortening the step's model requests.
    pub history: History,
    /// Number of entries at the beginning of the step's conversation that are messages from before the start of the
    /// step.
    pub inherited: usize,
    /// Number of the round that the step carries out in a copilot phase, from 1. `None` if the step is not a round.
    pub round: Option<u32>,
    /// Input of the step, if it replaces the task of the run.
    pub input: Option<Arc<str>>,
    pub output: Option<Arc<str>>,
    /// Sequence number of the event that started the step. `until` has the number of the event that ended the step.
    pub since: u64,
    pub until: Option<u64>,
    /// Time of the event that started the step. `until_at` has the time of the event that ended the step.
    pub since_at: Timestamp,
    pub until_at: Option<Timestamp>,
}

impl Step {
    /// Adds a reply to the step's conversation, directly after the entries that its request contained. Notes that
    /// arrived during the request are moved after the reply.
    pub(super) fn add_turn(&mut self, turn: Entry) {
        let mut unheard = Vec::new();
        while self.entries.len() > self.sent
            && let Some(entry) = self.entries.last().cloned()
        {
            unheard.push(entry);
            self.entries.drop_last_mut();
        }
        self.entries.push_back_mut(turn);
        self.entries.extend(unheard.into_iter().rev());
    }
}

impl Open for Step {
    fn is_open(&self) -> bool {
        self.end.is_none()
    }
}

impl Step {
    pub fn new(phase: &str, role: StepRole, agent: &str) -> Self {
        Self {
            phase: phase.to_owned(),
            role,
            subtask: None,
            judges: None,
            summarises: None,
            agent: agent.to_owned(),
            end: None,
            closing: None,
            blocked: None,
            entries: SharedList::new_sync(),
            turn: 0,
            model: ModelCall::Idle,
            model_at: Timestamp::from_millis(0),
            stopped: false,
            sent: 0,
            begun: false,
            failures: 0,
            trouble: Trouble::None,
            refused_ends: 0,
            last_failure: None,
            retry_at: None,
            crashes: 0,
            used: Used::default(),
            continued: 0,
            continued_unasked: 0,
            redos: 0,
            retries: 0,
            excused: 0,
            plans: 0,
            judged: 0,
            history: History::default(),
            inherited: 0,
            round: None,
            input: None,
            output: None,
            since: 0,
            until: None,
            since_at: Timestamp::from_millis(0),
            until_at: None,
        }
    }
}

/// Entry of a step's conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// Reply of an agent with its tool calls. The results of the calls are stored with the calls.
    Turn { agent: String, text: Arc<str>, calls: Vec<String>, stop: Stop },
    /// Text for the agent of the step from a person, from Holdshort, or from a judge.
    Note { text: Arc<str> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelCall {
    Idle,
    Running { attempt: u32, epoch: u64 },
}

/// Usage of a step, which is compared with the limits of the step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub rounds: u32,
    pub calls: u32,
    pub tokens: u64,
    /// Cost of the step so far. If a model has no price in the workflow, its replies are counted at the workflow's
    /// highest price.
    pub cost: Cost,
    /// Number of identical tool calls of the step in a row.
    pub identical: u32,
    pub last_call: Option<Digest>,
}

/// Plan of a planning phase: all its versions, and the number of the version that agents carry out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    pub versions: Vec<Arc<Plan>>,
    /// Number of the planner's turn that drafted the last version of the plan. `None` if a person wrote the last
    /// version.
    pub turn: Option<u32>,
    /// Number of unusable plans that the planner proposed in a row.
    pub unusable: u32,
    /// Number of plans of the phase that a person has been shown.
    pub iterations: u32,
    /// Number of the plan's version that agents carry out, from 1.
    pub settled: Option<usize>,
    /// True if a newer version of the plan waits for a decision. Until this decision, no further step of the current
    /// version starts.
    pub held: bool,
}

impl Planned {
    pub fn version(&self) -> usize {
        self.versions.len()
    }

    /// Returns the version of the plan that agents carry out. `None` if no version was approved yet.
    pub fn settled(&self) -> Option<&Arc<Plan>> {
        self.versions.get(self.settled?.checked_sub(1)?)
    }
}

/// Tool call of an agent in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub step: String,
    /// Number of the step's turn whose reply made the tool call.
    pub turn: u32,
    /// Agent that made the tool call. The step may have another agent by now.
    pub agent: String,
    pub tool: String,
    pub arguments: Value,
    pub state: CallState,
    /// Revision of the tool call. The revision increases each time that the call must be inspected again. Results of
    /// inspections with an older revision are rejected.
    pub revision: u32,
    /// Number of starts of the tool call so far. `started_at` is the time of the last start.
    pub attempt: u32,
    pub started_at: Option<Timestamp>,
    /// Attempt of the tool call whose outcome is unknown, if there is one.
    pub lost: Option<u32>,
    pub look: Option<InspectionFacts>,
    /// True if the tool call must be inspected again, because another call has written to the workspace. The inspection
    /// takes place before the call starts. If the approval card shows files, the inspection takes place at once.
    pub look_again: bool,
    /// True if the tool call depends on effects of earlier calls. Such a call is inspected again after the earlier
    /// calls have ended.
    pub deferred: bool,
    pub card: Value,
    /// Changes that a file tool proposes, from the last inspection of the tool call.
    pub proposal: Option<Arc<CallChanges>>,
    /// State of the trial of the tool call. Has its default value if the approval gates require no trial.
    pub trial: Trial,
    pub digest: Option<Digest>,
    pub authority: Option<Authority>,
    /// Text of the person who stopped the tool call, possibly empty. `None` if no person stopped the call. A stopped
    /// call ends after its processes have ended.
    pub stopped: Option<Arc<str>>,
    /// True if the tool call was stopped because a person interrupted the run.
    pub interrupted: bool,
    /// Effect that the command of the tool call is permitted to have after its approval.
    pub effect: Option<CommandEffect>,
    /// Permitted effect that the command of the tool call exceeded. The sandbox stopped the command, or the command
    /// created guarded files.
    pub confined: Option<CommandEffect>,
    /// Interrupt with which a person approved the tool call, and the reasons to ask that the approval card showed. If
    /// the person then edits the call, these reasons do not cause a second question.
    pub cleared: Option<(InterruptId, Vec<Reason>)>,
    /// Judgement of the overseer about the tool call, if an overseer was asked.
    pub judged: Option<Judgement>,
    /// Data of the `call_judged` event, which states the reasons for the overseer's judgement.
    pub judgement: Value,
    /// Last interrupt that asked about the tool call.
    pub interrupt: Option<InterruptId>,
    /// Sequence number of the event that ended the tool call.
    pub ended_at: Option<u64>,
    /// Sequence number of the last event after which the changes that the tool call made were uncertain. Either the
    /// call ran without a commit, or its outcome became unknown.
    pub untold_at: Option<u64>,
    pub result: Option<Arc<str>>,
    /// Data that the tool reported with the result of the call.
    pub outcome: Value,
    /// Result of the tool call that the agent gets only after a person has approved the result. The result is still
    /// stored after the approval.
    pub held: Option<Arc<HeldResult>>,
}

/// Result of a tool call that the agent gets only after a review, as the reviewer sees the result.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldResult {
    pub title: String,
    pub content: Arc<str>,
    pub digest: Digest,
    /// Data that the tool reported with the result that a reviewer sees.
    pub data: Value,
}

impl Open for Call {
    fn is_open(&self) -> bool {
        !self.is_ended()
    }
}

impl Call {
    pub fn new(step: &str, turn: u32, agent: &str, tool: &str, arguments: Value) -> Self {
        Self {
            step: step.to_owned(),
            turn,
            agent: agent.to_owned(),
            tool: tool.to_owned(),
            arguments,
            state: CallState::Proposed,
            revision: 0,
            attempt: 0,
            started_at: None,
            look: None,
            look_again: false,
            deferred: false,
            card: Value::Null,
            proposal: None,
            trial: Trial::default(),
            digest: None,
            stopped: None,
            interrupted: false,
            effect: None,
            confined: None,
            authority: None,
            cleared: None,
            judged: None,
            judgement: Value::Null,
            interrupt: None,
            ended_at: None,
            untold_at: None,
            lost: None,
            result: None,
            outcome: Value::Null,
            held: None,
        }
    }

    /// Returns true if the approval card of the tool call shows files, with their current content or their content
    /// after the call.
    pub fn shows_files(&self) -> bool {
        self.trial.found.is_some() || self.look.as_ref().is_some_and(|look| !look.preconditions.is_empty())
    }

    /// Returns true if the files on the approval card of the tool call must be inspected again. False for a call whose
    /// result waits for review, because this result can no longer change.
    pub(super) fn awaits_another_look(&self) -> bool {
        self.look_again && self.shows_files() && self.held.is_none()
    }

    pub fn is_ended(&self) -> bool {
        match self.state {
            CallState::Ended(_) => true,
            CallState::Proposed
            | CallState::Gated(_)
            | CallState::Authorised
            | CallState::Started { .. }
            | CallState::WithClient(_)
            | CallState::Doubted(_) => false,
        }
    }

    pub fn argument(&self, name: &str) -> Option<&str> {
        self.arguments.get(name).and_then(Value::as_str)
    }
}

/// Trials of a tool call. At most one trial of the call runs at a time. Only the result of the last trial is valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Number of trials of the tool call that have started, which is also the number of the last trial.
    pub attempt: u32,
    /// Epoch of the process that runs the tool call's trial. `None` if no trial is running.
    pub running: Option<u64>,
    /// Number of consecutive trials of the tool call during which the server process crashed.
    pub lost: u32,
    pub found: Option<Arc<CallChanges>>,
    /// True if a new trial of the tool call is needed, because another call has written to the workspace since the last
    /// trial. The value is ignored after a commit has begun.
    pub is_stale: bool,
    /// Number of commits of the tool call that have started. A commit that has begun is always completed. After the
    /// start of a commit, the preconditions of the call are not checked again, because the commit itself may have
    /// changed the files.
    pub commits: u32,
    /// Reason why the tool call cannot run in a trial. `None` if no such reason was reported.
    pub impossible: Option<Arc<str>>,
}

/// Changes that a tool call makes to the workspace. The trial of the call made the changes, or its tool proposed them.
#[derive(Clone, Debug, PartialEq)]
pub struct CallChanges {
    /// Digest of the changeset with the tool call's changes.
    pub digest: Digest,
    pub changed: usize,
    pub deleted: usize,
    pub ask_because: Vec<String>,
    /// Changes of the tool call by path. `None` if the changes are unknown, because the content was erased or does not
    /// match the digest.
    pub changeset: Option<Arc<Changeset>>,
    /// Changes of the tool call to the run's private layer (ignored files that only this run sees). `None` if there are
    /// no such changes, or if they were erased.
    pub layer: Option<Arc<LayerChanges>>,
    pub text: Arc<str>,
    pub data: Value,
    pub card: Value,
}

/// State of a tool call (design, part 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    Proposed,
    Gated(InterruptId),
    Authorised,
    Started {
        epoch: u64,
    },
    /// A client executes the tool call. The client reports the result as the answer to this interrupt.
    WithClient(InterruptId),
    /// Holdshort does not know if the tool call had an effect, so a person is asked. The interrupt is `None` before it
    /// is opened.
    Doubted(Option<InterruptId>),
    Ended(CallEnd),
}

/// State of shortening the model requests of a step: the turns that are summarised or left out, and the size of the
/// model's context window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub summary: Option<Summary>,
    /// Number of the step's last turn that could not be summarised. Requests leave out the results of tool calls up to
    /// this turn.
    pub elided: u32,
    /// Smaller size of the model's context window, which is assumed after a provider refused a request of the step as
    /// too long.
    pub narrowed: Option<u64>,
    /// Number of input tokens of the step's last model request, as the provider counted them. 0 if the provider counted
    /// none, or if the next request begins differently.
    pub counted: u64,
    /// True if contents were left out of the step's current or last model request.
    pub shortened: bool,
    /// Model that sent the step's last reply, under the name that the provider uses.
    pub answered: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub until: u32,
    pub text: Arc<str>,
}

impl History {
    /// Returns the number of the step's last turn that is summarised or shortened in requests.
    pub(super) fn until(&self) -> u32 {
        self.elided.max(self.summarised())
    }

    pub(super) fn summarised(&self) -> u32 {
        self.summary.as_ref().map_or(0, |summary| summary.until)
    }
}

/// Rounds of a copilot phase.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each flag records an independent event before a round")]
pub struct Rounds {
    /// Number of rounds of the copilot phase that have begun.
    pub begun: u32,
    /// True if a person asked the copilot for another round.
    pub wanted: bool,
    /// True if a person ended the rounds of the copilot.
    pub is_over: bool,
    /// Open interrupt that asks a person before or after a round of the copilot. `None` if no such interrupt is open.
    pub asked: Option<InterruptId>,
    /// Number of the copilot's first round whose conversation is part of the requests of later rounds.
    pub fresh_from: u32,
    /// Task of the copilot that replaced the run's original task. `None` if the run still has its original task.
    pub task: Option<Arc<str>>,
    /// True if the next round of the copilot has a new task, for which a route must be selected.
    pub is_new_task: bool,
    /// True if a person replaced the copilot's earlier task by a new task.
    pub was_replaced: bool,
    /// Text of a person on which the next round of the copilot works.
    pub next: Option<Arc<str>>,
    /// Answers that people gave since the copilot's last round began.
    pub added: Vec<Arc<str>>,
    /// True if a person was asked about the copilot's current task before work on the task began.
    pub was_asked: bool,
    /// Number of times that a route was selected for a task of the copilot.
    pub routings: u32,
    /// Route of the copilot's current task. `None` until a route is selected.
    pub routed: Option<Routed>,
    /// True if the gates before and after steps ask nobody about the copilot's current task. `None` if the selection of
    /// a route has not determined this.
    pub simple: Option<bool>,
    /// Input of each round of the copilot, by round number.
    pub briefs: SharedMap<u32, Brief>,
    /// Number of messages that the run had received when each round of the copilot ended, by round number.
    pub heard: SharedMap<u32, usize>,
}

/// Input of a round of a copilot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brief {
    /// Text of a person on which the round of the copilot works. `None` for the first round, which works on the task of
    /// the run.
    pub said: Option<Arc<str>>,
    pub is_new_task: bool,
    /// Answers that people gave before the round of the copilot began, followed by the hint that the selected route
    /// gives to the agent.
    pub beside: Vec<Arc<str>>,
}

impl Brief {
    pub(super) fn render(&self) -> String {
        let said = self.said.as_deref().unwrap_or_default();
        if self.is_new_task && !said.is_empty() { format!("New task: {said}") } else { said.to_owned() }
    }
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            begun: 0,
            wanted: false,
            is_over: false,
            asked: None,
            fresh_from: 1,
            task: None,
            is_new_task: false,
            was_replaced: false,
            next: None,
            added: Vec::new(),
            was_asked: false,
            routings: 0,
            routed: None,
            simple: None,
            briefs: SharedMap::new_sync(),
            heard: SharedMap::new_sync(),
        }
    }
}

impl Rounds {
    /// Begins the next round of a copilot, with the texts and answers that were collected for the round.
    pub(super) fn begin(&mut self) {
        self.begun += 1;
        let hint = self.routed.as_ref().and_then(Routed::hint).map(Arc::from);
        let brief = Brief {
            said: self.next.take(),
            is_new_task: self.was_replaced,
            beside: self.added.drain(..).chain(hint).collect(),
        };
        self.briefs.insert_mut(self.begun, brief);
        self.wanted = false;
        self.is_new_task = false;
        self.was_replaced = false;
    }

    /// Returns the number of messages that the run had received when the copilot's round before `round` ended. 0 if the
    /// round does not get the conversation of the previous round.
    pub(super) fn heard_before(&self, round: u32) -> usize {
        let before = round.checked_sub(1).filter(|before| *before >= self.fresh_from);
        before.and_then(|before| self.heard.get(&before)).copied().unwrap_or_default()
    }
}

/// Phase that a tool call began.
#[derive(Clone, Debug, PartialEq)]
pub struct StartedPhase {
    pub phase: Phase,
    pub call: String,
    /// Position of the phase in the chain of phases that the tool call began, from 0.
    pub nth: usize,
    /// Reason why the phase that a tool call began did not complete. `None` if the phase completed or is still open.
    pub why: Option<String>,
}

/// Totals of a run, computed from its events. A new budget for a step does not reset the totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number of model replies in the run.
    pub requests: u64,
    /// Number of starts of tool calls in the run. Calls that never started also count if they failed, or if their trial
    /// completed them.
    pub calls: u64,
    pub tokens: u64,
    /// Number of input tokens of the run's model requests, which `tokens` includes.
    pub input_tokens: u64,
    /// Cost of the run according to the prices of the workflow.
    pub cost: Cost,
    /// Number of replies in the run from models for which the workflow has no price.
    pub unpriced: u64,
}
