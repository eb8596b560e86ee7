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

/// State of a step after its last failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trouble {
    #[default]
    None,
    /// The step failed or reached a limit, and a person was asked.
    Stuck,
    /// A person let the step retry, and the step has not failed since the retry.
    Retried,
}

/// Work of one agent in a phase, turn by turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub phase: String,
    pub role: StepRole,
    /// Subtask that the step carries out.
    pub subtask: Option<String>,
    /// Call that the step judges. Set only for an overseer.
    pub judges: Option<String>,
    /// Step whose old turns this step summarises.
    pub summarises: Option<String>,
    /// Agent that currently works on the step.
    pub agent: String,
    pub end: Option<StepEnd>,
    /// Outcome with which the step ends after its calls in progress have ended.
    pub closing: Option<StepEnd>,
    /// Interrupt that blocks the whole step. Interrupts about single calls are stored with the calls.
    pub blocked: Option<InterruptId>,
    pub entries: SharedList<Entry>,
    /// Number of turns so far.
    pub turn: u32,
    pub model: ModelCall,
    /// Time at which the last model request started or ended. Before the first request, the time at which the step
    /// started.
    pub model_at: Timestamp,
    /// True if a person interrupted the model call in progress.
    pub stopped: bool,
    /// Number of entries that the request in progress contains. Entries that are added during the request come after
    /// its reply.
    pub sent: usize,
    /// True if the agent has been asked at least once. A step that was skipped earlier has done no work.
    pub begun: bool,
    /// Number of model calls that failed in a row.
    pub failures: u32,
    pub trouble: Trouble,
    /// Number of replies that did not end the step since a person last spoke in the step.
    pub refused_ends: u32,
    pub last_failure: Option<(FailureKind, Arc<str>)>,
    pub retry_at: Option<Timestamp>,
    /// Number of times in a row that the step's process was lost without any progress of the step in between.
    pub crashes: u32,
    /// Usage of the step that its limits count, since the last new budget.
    pub used: Used,
    /// Number of new budgets that the step received. `continued_unasked` counts only budgets that were granted without
    /// asking a person.
    pub continued: u32,
    pub continued_unasked: u32,
    pub redos: u32,
    /// Number of retries of the step that people asked for.
    pub retries: u32,
    /// Turn whose failed calls a person has already decided to accept.
    pub excused: u32,
    /// Number of plans that the step proposed.
    pub plans: u32,
    /// Number of judgements that the step received.
    pub judged: u32,
    /// State of the shortening of the step's requests.
    pub history: History,
    /// Number of entries at the beginning of the conversation that are messages to the run from the time before the
    /// step started.
    pub inherited: usize,
    /// Number of the round in a copilot phase, from 1.
    pub round: Option<u32>,
    /// Input of the step, if it replaces the task of the run.
    pub input: Option<Arc<str>>,
    pub output: Option<Arc<str>>,
    /// Sequence numbers of the events that started (`since`) and ended (`until`) the step.
    pub since: u64,
    pub until: Option<u64>,
    /// Timestamps of the events that started (`since_at`) and ended (`until_at`) the step.
    pub since_at: Timestamp,
    pub until_at: Option<Timestamp>,
}

impl Step {
    /// Adds a reply after the entries that its request contained. Notes that arrived after the request was sent follow
    /// the reply.
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
    /// Reply of an agent with its calls. The results of the calls are stored with the calls.
    Turn { agent: String, text: Arc<str>, calls: Vec<String>, stop: Stop },
    /// Text for the agent from a person, from Holdshort, or from a judge.
    Note { text: Arc<str> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelCall {
    Idle,
    Running { attempt: u32, epoch: u64 },
}

/// Usage of a step that its limits count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub rounds: u32,
    pub calls: u32,
    pub tokens: u64,
    /// Cost of the step so far. If the workflow has no price for the model of a reply, the reply is charged at the
    /// highest price in the workflow.
    pub cost: Cost,
    /// Number of identical calls in a row.
    pub identical: u32,
    pub last_call: Option<Digest>,
}

/// Plan of a planning phase: all versions of the plan, and the number of the settled version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    pub versions: Vec<Arc<Plan>>,
    /// Turn of the planner that drafted the last version. `None` if a person wrote the last version.
    pub turn: Option<u32>,
    /// Number of unusable plans that the planner proposed in a row.
    pub unusable: u32,
    /// Number of plans that a person has been shown.
    pub iterations: u32,
    /// Number of the version that agents carry out, from 1.
    pub settled: Option<usize>,
    /// True if a newer version waits for a decision. No further step of the settled version starts before the decision.
    pub held: bool,
}

impl Planned {
    pub fn version(&self) -> usize {
        self.versions.len()
    }

    /// Returns the plan that agents carry out.
    pub fn settled(&self) -> Option<&Arc<Plan>> {
        self.versions.get(self.settled?.checked_sub(1)?)
    }
}

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub step: String,
    /// Turn of the reply that made the call.
    pub turn: u32,
    /// Agent that made the call. Another agent may since have taken over the step.
    pub agent: String,
    pub tool: String,
    pub arguments: Value,
    pub state: CallState,
    /// Revision of the call, which increases each time the call needs a new inspection. Inspection results with an
    /// older revision are rejected.
    pub revision: u32,
    /// Number of starts of the call so far. `started_at` is the time of the last start.
    pub attempt: u32,
    pub started_at: Option<Timestamp>,
    /// Attempt number of the call's last start, if the outcome of that start is unknown.
    pub lost: Option<u32>,
    pub look: Option<InspectionFacts>,
    /// True if the call must be inspected again, because a different call has written to the workspace. The inspection
    /// is due before the start of the call. If the card shows files, the inspection is due at once.
    pub look_again: bool,
    /// True if the call needs the effects of earlier calls. A deferred call is inspected again after the earlier calls
    /// have ended.
    pub deferred: bool,
    pub card: Value,
    /// Changes that a file tool proposes, from the last inspection of the call.
    pub proposal: Option<Arc<CallChanges>>,
    /// State of the call's trial, if the gates require a trial.
    pub trial: Trial,
    pub digest: Option<Digest>,
    pub authority: Option<Authority>,
    /// Text of the person who stopped the call. It may be empty. The call ends after its processes have ended.
    pub stopped: Option<Arc<str>>,
    /// True if the call was stopped because a person interrupted the run.
    pub interrupted: bool,
    /// Effect that a released command may have.
    pub effect: Option<CommandEffect>,
    /// Permitted effect that the command exceeded. The sandbox stopped the command for this reason.
    pub confined: Option<CommandEffect>,
    /// Interrupt with which a person released the call, and the reasons to ask that the person saw. If the call was
    /// then edited, these reasons do not lead to a second question.
    pub cleared: Option<(InterruptId, Vec<Reason>)>,
    /// Judgement of an overseer about the call, if an overseer was asked.
    pub judged: Option<Judgement>,
    /// Content of the `call_judged` event.
    pub judgement: Value,
    /// Last interrupt that asked about the call.
    pub interrupt: Option<InterruptId>,
    /// Sequence number of the event that ended the call.
    pub ended_at: Option<u64>,
    /// Sequence number of the last event that made the changes of the call uncertain. The call either ran without a
    /// commit, or its outcome became unknown.
    pub untold_at: Option<u64>,
    pub result: Option<Arc<str>>,
    /// Data that the tool reported with its result.
    pub outcome: Value,
    /// Result that must be released before the agent gets it. The result is kept after the release.
    pub held: Option<Arc<HeldResult>>,
}

/// Result that must be released before the agent gets it, as the reviewer sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldResult {
    pub title: String,
    pub content: Arc<str>,
    pub digest: Digest,
    /// Data that the tool reported with its result.
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

    /// Returns true if the card shows files, with their current content or their content after the call.
    pub fn shows_files(&self) -> bool {
        self.trial.found.is_some() || self.look.as_ref().is_some_and(|look| !look.preconditions.is_empty())
    }

    /// Returns true if the files on the card must be inspected again. A result that is held back cannot change, so it
    /// needs no inspection.
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

/// Trials of a call. At most one trial runs at a time. Only the result of the last trial is valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Number of trials that have started. The last trial has this number.
    pub attempt: u32,
    /// Epoch of the process that runs the trial.
    pub running: Option<u64>,
    /// Number of trials in a row that were lost with their process.
    pub lost: u32,
    pub found: Option<Arc<CallChanges>>,
    /// True if a new trial is needed, because a different call has written to the workspace since the trial. Has no
    /// effect after a commit has begun.
    pub is_stale: bool,
    /// Number of commits that have started. A commit that has begun is always continued. The preconditions of the call
    /// are not checked again, because the commit itself may have changed the files.
    pub commits: u32,
    /// Reason why the call cannot run in a trial.
    pub impossible: Option<Arc<str>>,
}

/// Changes that a call makes to the workspace, as the trial of the call found them or its tool proposed them.
#[derive(Clone, Debug, PartialEq)]
pub struct CallChanges {
    /// Digest of the changeset.
    pub digest: Digest,
    pub changed: usize,
    pub deleted: usize,
    pub ask_because: Vec<String>,
    /// Changes by path. `None` if the changes are unknown, because the content was erased or does not match the digest.
    pub changeset: Option<Arc<Changeset>>,
    /// Changes to the run's private layer. `None` if the layer has no changes, or if the changes were erased.
    pub layer: Option<Arc<LayerChanges>>,
    pub text: Arc<str>,
    pub data: Value,
    pub card: Value,
}

/// State of a call (design, part 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    Proposed,
    Gated(InterruptId),
    Authorised,
    Started {
        epoch: u64,
    },
    /// A client runs the call. The client reports the result as the answer to this interrupt.
    WithClient(InterruptId),
    /// It is unknown whether the call took effect, so a person is asked. The interrupt is `None` until it is opened.
    Doubted(Option<InterruptId>),
    Ended(CallEnd),
}

/// State of the shortening of a step's requests: the turns that are summarised or left out, and the size of the window,
/// if known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub summary: Option<Summary>,
    /// Last turn up to which the turns could not be summarised. Results of calls up to this turn are left out.
    pub elided: u32,
    /// Reduced size of the window, after a provider refused a request as too long.
    pub narrowed: Option<u64>,
    /// Input tokens of the last request, as its provider counted them. 0 if the provider did not count the tokens, or
    /// if the next request has a different beginning.
    pub counted: u64,
    /// True if the current or the last request left out content.
    pub shortened: bool,
    /// Model that sent the last reply, by the name that the provider uses.
    pub answered: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub until: u32,
    pub text: Arc<str>,
}

impl History {
    /// Returns the last turn that requests summarise or shorten.
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
    /// Number of rounds that have begun.
    pub begun: u32,
    /// True if a person asked for another round.
    pub wanted: bool,
    /// True if a person ended the rounds in the turn after a round.
    pub is_over: bool,
    /// Open interrupt that asks a person before or after a round.
    pub asked: Option<InterruptId>,
    /// First round whose conversation is included in later rounds.
    pub fresh_from: u32,
    /// Task that replaced the run's original task. `None` if the task was not replaced.
    pub task: Option<Arc<str>>,
    /// True if the next round has a new task. The new task must be routed.
    pub is_new_task: bool,
    /// True if a person replaced the earlier task with the new task.
    pub was_replaced: bool,
    /// Text of a person on which the next round works.
    pub next: Option<Arc<str>>,
    /// Answers that people gave since the last round began.
    pub added: Vec<Arc<str>>,
    /// True if a person was asked about the current task before work on it began.
    pub was_asked: bool,
    /// Number of tasks that were routed.
    pub routings: u32,
    /// Route of the current task. `None` until the task is routed.
    pub routed: Option<Routed>,
    /// True if the gates before and after steps do not ask about the current task. `None` if the task was not routed.
    pub simple: Option<bool>,
    /// Input of each round, by round number.
    pub briefs: SharedMap<u32, Brief>,
    /// Number of messages that the run had received when each round ended, by round number.
    pub heard: SharedMap<u32, usize>,
}

/// Input of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brief {
    /// Text of a person on which the round works. `None` for the first round, which works on the task of the run.
    pub said: Option<Arc<str>>,
    pub is_new_task: bool,
    /// Answers that people gave before the round began, and the hint for the agent that the routing of the task
    /// produced.
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
    /// Begins the next round with the texts and answers that were collected for the round.
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

    /// Returns the number of messages to the run that belong to earlier rounds. Counts only the rounds whose
    /// conversation this round receives.
    pub(super) fn heard_before(&self, round: u32) -> usize {
        let before = round.checked_sub(1).filter(|before| *before >= self.fresh_from);
        before.and_then(|before| self.heard.get(&before)).copied().unwrap_or_default()
    }
}

/// Phase that a call began.
#[derive(Clone, Debug, PartialEq)]
pub struct StartedPhase {
    pub phase: Phase,
    pub call: String,
    /// Index of the phase in its chain of phases, from 0.
    pub nth: usize,
    /// Reason why the phase did not complete. `None` if the phase completed or is still open.
    pub why: Option<String>,
}

/// Totals of a run, counted from its events. A new budget for a step does not reset the totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number of model replies.
    pub requests: u64,
    /// Number of starts of calls, plus the number of calls that failed before they started.
    pub calls: u64,
    pub tokens: u64,
    /// Number of input tokens, which `tokens` includes.
    pub input_tokens: u64,
    /// Cost of the run according to the prices of the workflow.
    pub cost: Cost,
    /// Number of replies from models for which the workflow has no price.
    pub unpriced: u64,
}
