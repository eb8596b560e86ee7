//! Parts of a run's state: phases, steps and calls. Only `apply` changes them.

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
    /// A person let the step retry, and the step has not failed since.
    Retried,
}

/// One agent's work, turn after turn.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub phase: String,
    pub role: StepRole,
    /// Subtask that the step carries out.
    pub subtask: Option<String>,
    /// Call that the step judges. Set only for an overseer.
    pub judges: Option<String>,
    /// Step whose old turns this step sums up.
    pub summarises: Option<String>,
    /// Agent that works on the step now.
    pub agent: String,
    pub end: Option<StepEnd>,
    /// Outcome with which the step ends once its calls in progress have returned.
    pub closing: Option<StepEnd>,
    /// Interrupt that blocks the step. Interrupts about single calls are stored with the calls.
    pub blocked: Option<InterruptId>,
    pub entries: SharedList<Entry>,
    /// Number of turns so far.
    pub turn: u32,
    pub model: ModelCall,
    /// Time of the start or end of the last model request. Before the first request, the start time of the step.
    pub model_at: Timestamp,
    /// True if a person interrupted the model call in progress.
    pub stopped: bool,
    /// Number of entries that the request in progress contains. Entries that were added later come after its reply.
    pub sent: usize,
    /// True if the agent has been asked at least once. A step that was skipped before this has done no work.
    pub begun: bool,
    /// Number of failed model calls in a row.
    pub failures: u32,
    pub trouble: Trouble,
    /// Number of replies that did not end the step, since a person last spoke in the step.
    pub refused_ends: u32,
    pub last_failure: Option<(FailureKind, Arc<str>)>,
    pub retry_at: Option<Timestamp>,
    /// Number of times in a row that the step's process was lost without progress in between.
    pub crashes: u32,
    /// Use of the limits since the last new budget.
    pub used: Used,
    /// Number of new budgets. `continued_unasked` counts only budgets that were granted without asking a
    /// person.
    pub continued: u32,
    pub continued_unasked: u32,
    pub redos: u32,
    /// Number of retries that a person asked for.
    pub retries: u32,
    /// Turn whose failed calls a person has already decided on.
    pub excused: u32,
    /// Number of proposed plans.
    pub plans: u32,
    /// Number of judgements that the step received.
    pub judged: u32,
    /// Shortening of the step's requests.
    pub history: History,
    /// Number of entries at the beginning of the conversation that are messages to the run from before the step
    /// started.
    pub inherited: usize,
    /// Round of a copilot phase, from 1.
    pub round: Option<u32>,
    /// Input of this step that replaces the run's task.
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
    /// Adds a reply after the entries that its request contained. Notes that were added after the request follow the
    /// reply.
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
    /// Reply with its calls. The results of the calls are stored with the calls.
    Turn { agent: String, text: Arc<str>, calls: Vec<String>, stop: Stop },
    /// Text for the agent from a person, from Holdshort, or from a judge.
    Note { text: Arc<str> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelCall {
    Idle,
    Running { attempt: u32, epoch: u64 },
}

/// Use of a step's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub rounds: u32,
    pub calls: u32,
    pub tokens: u64,
    /// Cost so far. If the workflow has no price for the model of a reply, the reply is charged at the workflow's
    /// highest price.
    pub cost: Cost,
    /// Number of equal calls in a row.
    pub identical: u32,
    pub last_call: Option<Digest>,
}

/// Plan of a planning phase: all its versions, and the number of the settled version.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    pub versions: Vec<Arc<Plan>>,
    /// Planner's turn in which the last version was drafted. `None` if a person wrote the last version.
    pub turn: Option<u32>,
    /// Number of unusable plans in a row.
    pub unusable: u32,
    /// Number of times that a person was shown a plan.
    pub iterations: u32,
    /// Number of the version to carry out, from 1.
    pub settled: Option<usize>,
    /// True if a newer version waits for a decision. Until the decision, no further step of the settled version
    /// starts.
    pub held: bool,
}

impl Planned {
    pub fn version(&self) -> usize {
        self.versions.len()
    }

    /// Returns the plan to carry out.
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
    /// Agent that made the call. The step may since have been handed over to a different agent.
    pub agent: String,
    pub tool: String,
    pub arguments: Value,
    pub state: CallState,
    /// Increases each time the call needs a new inspection. Results of inspections with an older revision are
    /// rejected.
    pub revision: u32,
    /// Number of starts so far. `started_at` is the time of the last start.
    pub attempt: u32,
    pub started_at: Option<Timestamp>,
    /// Number of the last start of the call, if the outcome of that start is unknown.
    pub lost: Option<u32>,
    pub look: Option<InspectionFacts>,
    /// True after a different call has written: this call must be inspected again. The inspection is due before the
    /// start of the call, or at once if the card shows files.
    pub look_again: bool,
    /// True if the call needs the effects of earlier calls. A deferred call is inspected again after those calls.
    pub deferred: bool,
    pub card: Value,
    /// Changes that a file tool proposes, from its last inspection.
    pub proposal: Option<Arc<CallChanges>>,
    /// State of the trial, if the gate requires one.
    pub trial: Trial,
    pub digest: Option<Digest>,
    pub authority: Option<Authority>,
    /// Text of the person who stopped the call; may be empty. The call ends after its processes have ended.
    pub stopped: Option<Arc<str>>,
    /// True if the call was stopped because a person interrupted the run.
    pub interrupted: bool,
    /// Effect that a released command is limited to.
    pub effect: Option<CommandEffect>,
    /// Permitted effect that the command exceeded, so that the sandbox stopped the command.
    pub confined: Option<CommandEffect>,
    /// Interrupt with which a person released the call, and the reasons to ask that the person saw. After an edit,
    /// these reasons do not lead to a second question.
    pub cleared: Option<(InterruptId, Vec<Reason>)>,
    /// Judgement of an overseer, if one was asked.
    pub judged: Option<Judgement>,
    /// Content of the `call_judged` event.
    pub judgement: Value,
    /// Last interrupt about the call.
    pub interrupt: Option<InterruptId>,
    /// Sequence number of the event that ended the call.
    pub ended_at: Option<u64>,
    /// Sequence number of the last event that made the changes of the call uncertain: the call ran outside a
    /// commit, or its outcome became unknown.
    pub untold_at: Option<u64>,
    pub result: Option<Arc<str>>,
    /// Data that the tool reported with its result.
    pub outcome: Value,
    /// Result that waits or waited for a release. The result is kept after the release.
    pub held: Option<Arc<HeldResult>>,
}

/// Result that waits for a release, as the reviewer sees it.
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

    /// Returns true if the card shows files: their current content, or their content after the call.
    pub fn shows_files(&self) -> bool {
        self.trial.found.is_some() || self.look.as_ref().is_some_and(|look| !look.preconditions.is_empty())
    }

    /// Returns true if the files on the card must be inspected again. A held result cannot change, so it needs no
    /// inspection.
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

/// Trials of a call. At most one trial runs at a time, and the result of the last one is valid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Number of trials started, which is also the number of the last trial.
    pub attempt: u32,
    /// Epoch of the process that runs the trial.
    pub running: Option<u64>,
    /// Number of trials in a row whose process was lost.
    pub lost: u32,
    pub found: Option<Arc<CallChanges>>,
    /// True if a different call has written since the trial, so a new trial is needed. Ignored once a commit has
    /// begun.
    pub is_stale: bool,
    /// Number of commits started. A commit that has begun is always continued. Its preconditions are not checked
    /// again, because its own writes may have changed the files.
    pub commits: u32,
    /// Reason why the call cannot run in a trial.
    pub impossible: Option<Arc<str>>,
}

/// Changes that a call makes to the workspace, found by its trial or proposed by its tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CallChanges {
    /// Digest of the changeset.
    pub digest: Digest,
    pub changed: usize,
    pub deleted: usize,
    pub ask_because: Vec<String>,
    /// Changes by path. `None` if the content was erased or does not match the digest; the changes are then unknown.
    pub changeset: Option<Arc<Changeset>>,
    /// Changes of the run's layer. `None` if there are none, or if they were erased.
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
    /// A client runs the call and reports the result as the answer to this interrupt.
    WithClient(InterruptId),
    /// It is unknown whether the call took effect. A person is asked; the interrupt is `None` until it is opened.
    Doubted(Option<InterruptId>),
    Ended(CallEnd),
}

/// Shortening of a step's requests: which turns are summed up or left out, and the known size of the window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub summary: Option<Summary>,
    /// Last turn for which a summary was wanted but failed. Results of calls up to this turn are left out.
    pub elided: u32,
    /// Size of the window after a provider refused a request as too long.
    pub narrowed: Option<u64>,
    /// Input tokens of the last request as counted by its provider. 0 if the provider did not count tokens, or if the
    /// next request has a different beginning.
    pub counted: u64,
    /// True if the current or last request left out content.
    pub shortened: bool,
    /// Name of the model that sent the last reply, as the provider names it.
    pub answered: Option<Arc<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub until: u32,
    pub text: Arc<str>,
}

impl History {
    /// Returns the last turn that is summed up or shortened in requests.
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
    /// Number of rounds begun.
    pub begun: u32,
    /// True if a person requested another round.
    pub wanted: bool,
    /// True if a person ended the rounds in their turn.
    pub is_over: bool,
    /// Open interrupt that asks a person before or after a round.
    pub asked: Option<InterruptId>,
    /// First round whose conversation later rounds receive.
    pub fresh_from: u32,
    /// Task that replaced the task with which the run started. `None` if it was not replaced.
    pub task: Option<Arc<str>>,
    /// True if the next round has a new task, which must be routed.
    pub is_new_task: bool,
    /// True if a person replaced the previous task with the new one.
    pub was_replaced: bool,
    /// Person's text that the next round works on.
    pub next: Option<Arc<str>>,
    /// A person's answers since the last round began.
    pub added: Vec<Arc<str>>,
    /// True if a person was asked about the current task before work on it began.
    pub was_asked: bool,
    /// Number of tasks that were routed.
    pub routings: u32,
    /// Route of the current task. `None` until the task is routed.
    pub routed: Option<Routed>,
    /// True if the checkpoints around steps are left out for the current task. `None` if the task was not routed.
    pub simple: Option<bool>,
    /// Brief of each round, by round number.
    pub briefs: SharedMap<u32, Brief>,
    /// Number of messages that the run had received by the end of each round, by round number.
    pub heard: SharedMap<u32, usize>,
}

/// Input of a round.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brief {
    /// Person's text that the round works on. `None` for the first round, which works on the task of the run.
    pub said: Option<Arc<str>>,
    pub is_new_task: bool,
    /// Answers that a person gave before the round began, and the hints that routing the task gives the agent.
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
    /// Begins the next round with the texts and answers that were collected for it.
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

    /// Returns the number of messages to the run that belong to earlier rounds. Counts only rounds whose conversation
    /// this round receives.
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
    /// Reason why the phase did not complete. `None` if it completed or is open.
    pub why: Option<String>,
}

/// Totals of a run, counted from its events. A new budget for a step does not reset them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number of model replies.
    pub requests: u64,
    /// Number of started calls, counting every start, plus the calls that failed before their start.
    pub calls: u64,
    pub tokens: u64,
    /// Input tokens. `tokens` includes the input tokens, too.
    pub input_tokens: u64,
    /// Cost according to the prices of the workflow.
    pub cost: Cost,
    /// Number of replies from models that have no price in the workflow.
    pub unpriced: u64,
}
