//! The parts of a run's state: phases, steps, calls. Changed by `apply` alone.

use std::sync::Arc;

use serde_json::Value;

use super::fact::{Authority, CallEnd, Judgement, Look, StepEnd, StepRole};
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

/// What became of a step's last failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trouble {
    #[default]
    None,
    /// It failed, or is at a limit, and a person was asked.
    Stuck,
    /// A person sent it back after a failure, and it has not failed since.
    Retried,
}

/// One agent's turn loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub phase: String,
    pub role: StepRole,
    /// The subtask that it carries out.
    pub subtask: Option<String>,
    /// The call that it judges, of an overseer.
    pub judges: Option<String>,
    /// The step whose old turns it sums up.
    pub summarises: Option<String>,
    /// Who works on it now.
    pub agent: String,
    pub end: Option<StepEnd>,
    /// How it will end, once the calls that are under way have come back.
    pub closing: Option<StepEnd>,
    /// The interrupt without which the loop does not go on. Gates of single calls are with the calls.
    pub blocked: Option<InterruptId>,
    pub entries: SharedList<Entry>,
    /// Replies so far.
    pub turn: u32,
    pub model: ModelCall,
    /// When its model was last asked or last answered; before that, when it started.
    pub model_at: Timestamp,
    /// A person interrupted the model call that is out.
    pub stopped: bool,
    /// How many of the entries the request that is out holds: what was said since stands after the reply.
    pub sent: usize,
    /// Whether its agent was ever asked: a step that is skipped before was never tried.
    pub begun: bool,
    /// Failed model calls in a row.
    pub failures: u32,
    pub trouble: Trouble,
    /// Replies that were told to be no end, since a person has spoken in the step.
    pub refused_ends: u32,
    pub last_failure: Option<(FailureKind, Arc<str>)>,
    pub retry_at: Option<Timestamp>,
    /// Processes lost in a row without progress.
    pub crashes: u32,
    /// Since the last fresh budget.
    pub used: Used,
    /// Fresh budgets so far, and how many of them nobody was asked for.
    pub continued: u32,
    pub continued_unasked: u32,
    pub redos: u32,
    /// Tries that a person asked for.
    pub retries: u32,
    /// The turn whose failed call a person has decided on.
    pub excused: u32,
    /// Plans proposed.
    pub plans: u32,
    /// Judgements that it was told.
    pub judged: u32,
    /// What its requests hold of its old turns.
    pub history: History,
    /// How many of the entries were said to the run before the step started.
    pub inherited: usize,
    /// Which round of a copilot it is, from 1.
    pub round: Option<u32>,
    /// Replaces the run's task for this step.
    pub input: Option<Arc<str>>,
    pub output: Option<Arc<str>>,
    /// The event that started it, and the one that ended it.
    pub since: u64,
    pub until: Option<u64>,
    /// When they happened.
    pub since_at: Timestamp,
    pub until_at: Option<Timestamp>,
}

impl Step {
    /// Adds a reply behind the entries that were sent. Notes that came after these stay behind it.
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

/// What the step's conversation consists of, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A reply, with the calls it made. The calls' results belong to it.
    Turn { agent: String, text: Arc<str>, calls: Vec<String>, stop: Stop },
    /// Something a person said.
    Note { text: Arc<str> },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelCall {
    Idle,
    Running { attempt: u32, epoch: u64 },
}

/// What counts against the step's limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    pub rounds: u32,
    pub calls: u32,
    pub tokens: u64,
    /// A reply of a model without a price counts at the highest one.
    pub cost: Cost,
    /// Equal calls in a row.
    pub identical: u32,
    pub last_call: Option<Digest>,
}

/// The plan of a planning phase: every version of it, and the one that counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Planned {
    pub versions: Vec<Arc<Plan>>,
    /// The planner's turn that brought the last one; `None`: a person wrote it.
    pub turn: Option<u32>,
    /// Proposals in a row that were no plan.
    pub unusable: u32,
    /// How often a person was shown one.
    pub iterations: u32,
    /// The version to carry out, counted from 1.
    pub settled: Option<usize>,
    /// A newer version that a person has not decided on: nothing more starts of the settled one.
    pub held: bool,
}

impl Planned {
    pub fn version(&self) -> usize {
        self.versions.len()
    }

    /// The plan to carry out.
    pub fn settled(&self) -> Option<&Arc<Plan>> {
        self.versions.get(self.settled?.checked_sub(1)?)
    }
}

/// One tool call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub step: String,
    /// The reply that made it.
    pub turn: u32,
    /// Who made it. The step may be another agent's by now.
    pub agent: String,
    pub tool: String,
    pub arguments: Value,
    pub state: CallState,
    /// Grows each time the call has to be looked at anew: a look of an older revision counts no longer.
    pub revision: u32,
    /// Starts so far, and when the last one was.
    pub attempt: u32,
    pub started_at: Option<Timestamp>,
    /// The last start of which nobody can tell what it did.
    pub lost: Option<u32>,
    pub look: Option<Look>,
    /// Something was written since the look: looked at again before it starts, and at once where a card shows files.
    pub look_again: bool,
    /// It could not be done before the calls that come before it: looked at again after them.
    pub deferred: bool,
    pub card: Value,
    /// What a tool that changes files would do, as its last look found.
    pub proposal: Option<Arc<Found>>,
    /// How far its trial is, where its gate wants one.
    pub trial: Trial,
    pub digest: Option<Digest>,
    pub authority: Option<Authority>,
    /// A person stops it, in these words, which may be none. What runs of it is ended, and then the call.
    pub stopped: Option<Arc<str>>,
    /// They interrupted the whole run.
    pub interrupted: bool,
    /// What a command may do that was released.
    pub effect: Option<CommandEffect>,
    /// The effect whose walls it met when it ran.
    pub confined: Option<CommandEffect>,
    /// What a person has released it from: the same reasons do not ask again after an edit.
    pub cleared: Option<(InterruptId, Vec<Reason>)>,
    /// What a model says of it, where one was asked.
    pub judged: Option<Judgement>,
    /// The words of that judgement.
    pub judgement: Value,
    /// The last interrupt about it.
    pub interrupt: Option<InterruptId>,
    /// The number of the event that ended it.
    pub ended_at: Option<u64>,
    /// The number of the last event that left open what it had written: it ran by itself, or nobody could tell its end.
    pub untold_at: Option<u64>,
    pub result: Option<Arc<str>>,
    /// The tool's own account of what it did.
    pub outcome: Value,
    /// Its result, while it waits for a release and after it.
    pub held: Option<Arc<HeldResult>>,
}

/// A result that waits for a release, as it was shown.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldResult {
    pub title: String,
    pub content: Arc<str>,
    /// Of the content.
    pub digest: Digest,
    /// The tool's own account.
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

    /// Whether its card shows files as they are, or as it would leave them.
    pub fn shows_files(&self) -> bool {
        self.trial.found.is_some() || self.look.as_ref().is_some_and(|look| !look.preconditions.is_empty())
    }

    /// Whether it is held and what its card shows is to be looked at again. What it would release does not change any more.
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

/// The trials of a call: at most one runs, and the last one counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// Begun so far: the number of the last one.
    pub attempt: u32,
    /// The epoch that runs it.
    pub running: Option<u64>,
    /// Lost with their process, in a row.
    pub lost: u32,
    pub found: Option<Arc<Found>>,
    /// Something was written since: it is tried again before it counts. Of a commit that was begun it says nothing.
    pub is_stale: bool,
    /// How often the commit of what the call does was begun. One that was is carried on: what it rests on is partly its own work.
    pub commits: u32,
    /// Why it can not be tried.
    pub impossible: Option<Arc<str>>,
}

/// What a call does to the workspace: what its trial came to, or what its tool proposes.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Of the changeset.
    pub digest: Digest,
    pub changed: usize,
    pub deleted: usize,
    pub ask_because: Vec<String>,
    /// `None` where it was erased, or is not what was found: nobody can say what it changes.
    pub changeset: Option<Arc<Changeset>>,
    /// Changes of the run's layer. `None` where there are none, or where they were erased.
    pub layer: Option<Arc<LayerChanges>>,
    pub text: Arc<str>,
    pub data: Value,
    pub card: Value,
}

/// The life of a call (design, part 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallState {
    Proposed,
    Gated(InterruptId),
    Authorised,
    Started {
        epoch: u64,
    },
    /// Handed out: the client runs it, and answers through the interrupt.
    WithClient(InterruptId),
    /// Nobody knows whether it happened; the interrupt asks, once it is open.
    Doubted(Option<InterruptId>),
    Ended(CallEnd),
}

/// Old turns in the requests of a step, and the known length of the model's window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub summary: Option<Summary>,
    /// Turns up to this one were to be summed up, and could not be.
    pub elided: u32,
    /// Size of the window by the refusal of a provider.
    pub narrowed: Option<u64>,
    /// Input tokens of the last request, as its provider counted them; 0: it did not, or the next one begins otherwise.
    pub counted: u64,
    /// Something was left out of the request that is out, or was last.
    pub shortened: bool,
    /// The model that answered last, as its provider names it.
    pub answered: Option<Arc<str>>,
}

/// Summary of the turns up to one.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    pub until: u32,
    pub text: Arc<str>,
}

impl History {
    /// Turns up to this one are not in requests as they were.
    pub(super) fn until(&self) -> u32 {
        self.elided.max(self.summarised())
    }

    pub(super) fn summarised(&self) -> u32 {
        self.summary.as_ref().map_or(0, |summary| summary.until)
    }
}

/// The rounds of a copilot phase.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "what happened before a round, each by itself")]
pub struct Rounds {
    /// Begun so far.
    pub begun: u32,
    /// A person wants another one.
    pub wanted: bool,
    /// The work is over: a person said so in their turn.
    pub is_over: bool,
    /// What is asked of a person before a round, or after it.
    pub asked: Option<InterruptId>,
    /// The first round that later ones remember.
    pub fresh_from: u32,
    /// Replaces the run's task.
    pub task: Option<Arc<str>>,
    /// The next round's task is a new one: it is routed.
    pub is_new_task: bool,
    /// A person has named it in the place of the one before.
    pub was_replaced: bool,
    /// What the next round works on, as a person said it.
    pub next: Option<Arc<str>>,
    /// What a person answered before the next round began.
    pub added: Vec<Arc<str>>,
    /// A person was asked about this task before it began.
    pub was_asked: bool,
    /// How often tasks were routed.
    pub routings: u32,
    /// How the task is done; `None` before it is routed.
    pub routed: Option<Routed>,
    /// Whether step checkpoints are left out; `None` where nobody routes.
    pub simple: Option<bool>,
    /// What each round works on, by its number.
    pub briefs: SharedMap<u32, Brief>,
    /// How many of the run's messages had come when a round ended.
    pub heard: SharedMap<u32, usize>,
}

/// What a round works on.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Brief {
    /// A person said it; `None` of the first round, which works on the run's task.
    pub said: Option<Arc<str>>,
    pub is_new_task: bool,
    /// What was answered before it began, and what the route says.
    pub beside: Vec<Arc<str>>,
}

impl Brief {
    pub(super) fn words(&self) -> String {
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
    /// The next round begins, with what was asked and answered for it.
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

    /// How many of the run's messages stand in the rounds that this one remembers.
    pub(super) fn heard_before(&self, round: u32) -> usize {
        let before = round.checked_sub(1).filter(|before| *before >= self.fresh_from);
        before.and_then(|before| self.heard.get(&before)).copied().unwrap_or_default()
    }
}

/// A phase that a call began.
#[derive(Clone, Debug, PartialEq)]
pub struct Called {
    pub phase: Phase,
    pub call: String,
    /// Index in its chain, from 0.
    pub nth: usize,
    /// Why it ended, where it did not end well.
    pub why: Option<String>,
}

/// Counted from the events; a fresh budget for a step takes nothing away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Replies of models.
    pub requests: u64,
    /// Calls that were tried: each time that one was started, and those that failed before they could.
    pub calls: u64,
    pub tokens: u64,
    /// Input tokens among them.
    pub input_tokens: u64,
    /// By the prices of the workflow.
    pub cost: Cost,
    /// Replies of models that have no price there.
    pub unpriced: u64,
}
