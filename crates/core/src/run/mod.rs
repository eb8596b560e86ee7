//! A run: one execution of a workflow, as a state machine without I/O.
//!
//! `handle` makes the decisions. It returns the events and the next state, and changes nothing. Only `apply` changes
//! the state. `apply` cannot fail, and works in the same way for live runs and for replays. `actions` and
//! `next_deadline` compute from the state what must happen next. `state.rs` contains the state, `fact/` the events, and
//! `advance.rs` the follow-up events.

mod action;
mod advance;
mod apply;
mod apply_content;
mod apply_effects;
mod asking;
mod assigning;
mod call;
mod call_changes;
mod changed_files;
mod claim;
mod client;
mod config;
mod conversation_events;
mod decide;
mod draft;
mod effect;
mod ending;
mod external;
mod fact;
mod foreign;
mod frozen;
mod gating;
mod grant_coverage;
mod handle;
mod handoff;
mod held_result;
mod history;
mod input;
mod interruption;
mod interrupts;
mod lookups;
mod manual_result;
pub mod merge;
mod model;
mod next_actions;
mod order;
mod outside;
mod oversight;
mod phase;
mod progress;
mod reader;
mod reply_questions;
mod request;
mod retention;
mod review_hold;
mod run_end;
mod state;
mod step;
mod step_ids;
mod stop;
mod summary;
mod task;
mod timing;
mod totals;
mod trial;
pub mod undo;
mod usage;
mod wind_up;
mod work;

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

pub use action::{Action, ActionId};
pub use apply_content::said_about;
pub use assigning::undecidable;
pub use config::{Config, Gates, Origin};
pub use conversation_events::conversation_text;
pub use draft::HandledInput;
pub use external::unkeepable;
pub use fact::{
    Authority, CallEnd, ErasureReason, Fact, InspectionFacts, Judgement, Listed, Node, PlanPart,
    ReassignmentReason, ReturnReason, RoutedBy, RoutedTask, StepEnd, StepRole, WithdrawalReason,
};
pub use foreign::GateContext;
pub use history::SUMMARISER;
pub use input::{Ask, Begin, ClientOutcome, Context, FrontStart, Hold, Input, Rejection, Start};
pub use order::{MissingPath, Remedy};
pub use oversight::OVERSEER;
pub use progress::Progress;
pub use reader::{Part, StepActivity};
pub use request::another_plan;
pub use state::{
    Brief, Call, CallChanges, CallState, Entry, HeldResult, History, ModelCall, Planned, Rounds, Spent,
    StartedPhase, Step, Summary, Trial, Trouble, Used,
};
pub use work::{Doing, Work};

use crate::actor::Actor;
use crate::definition::{Definition, Phase};
use crate::id::{InterruptId, RunId, SessionId};
use crate::interrupt::{About, Interrupt};
use crate::projection::Status;
use crate::shared::{OpenMap, SharedList, SharedMap};
use crate::text::readable;
use crate::time::Timestamp;
use crate::tool;

/// Result code of a command that the sandbox stopped, because the command exceeded its permitted effect.
const CONFINED: &str = "confined";
/// Result code of a command that created guarded files. The code is the same if these files could not be moved away.
const SET_ASIDE: &str = "set_aside";

/// State of a run. All code is allowed to read its fields. Only [`Run::apply`] writes the fields.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    pub definition: Arc<Definition>,
    /// Number of the run's events that were applied to the state so far.
    pub seq: u64,
    pub last_at: Timestamp,
    /// Content of the run's first event. `None` before the first event.
    pub started: Option<Arc<Started>>,
    /// Epoch of the last server process that started work of the run or adopted its work.
    pub epoch: u64,
    /// True if a person paused the run.
    pub paused: bool,
    /// Time at which a person last paused the run.
    pub paused_at: Option<Timestamp>,
    /// True if the session of the run is suspended.
    pub suspended: bool,
    /// Interrupt that stops the whole run. A person interrupted the run and is to write a message, or a service
    /// requested a review.
    pub interrupted: Option<InterruptId>,
    pub ended: Option<Arc<RunEnd>>,
    /// Phases of the run that have started. The value of a phase is `Some` after the phase has ended.
    pub phases: SharedMap<String, Option<StepEnd>>,
    pub steps: OpenMap<String, Step>,
    /// Plans of the run's planning phases, by phase id.
    pub plans: SharedMap<String, Planned>,
    /// Rounds of the run's copilot phases, by phase id.
    pub rounds: SharedMap<String, Arc<Rounds>>,
    /// Phases that tool calls began, by phase id.
    pub called: SharedMap<String, Arc<StartedPhase>>,
    pub calls: OpenMap<String, Call>,
    pub interrupts: OpenMap<InterruptId, Interrupt>,
    /// Number of tool calls that agents of the run proposed so far. The next call gets the next number.
    pub proposed: u32,
    /// Usage of the run, summed over all steps.
    pub spent: Spent,
    /// Outputs of the run that reviews approved, each as `{title, content}`, in the order of their approval.
    pub released: SharedList<Value>,
    /// Texts for steps of the run that start later: messages to the run, guidance about steps, and notices of undos.
    pub messages: SharedList<Arc<str>>,
    /// Undos of changes that the agents of the run were told about, by undoing run, each with the text that the agents
    /// got.
    pub undone: SharedMap<RunId, Arc<str>>,
    /// Conversation of the session before this run, as rendered by
    /// [`conversation::render_history`](crate::conversation::render_history). No event of the run contains this
    /// conversation. The loader of a live run reads the conversation from earlier runs.
    pub earlier: Option<Arc<str>>,
    /// Sequence number of the run's last event whose content is erased. The content of all earlier events is erased,
    /// too.
    pub erased_to: u64,
    /// Erasure of the content of the whole run. `None` while any content of the run remains.
    pub erased: Option<Erasure>,
    /// Legal hold that forbids the erasure of the run's content, if one is in effect.
    pub held: Option<LegalHold>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    pub by: Actor,
    pub session: SessionId,
    pub config: Config,
    pub origin: Origin,
    /// True if a message in the session began the run. The run is then the front run of the session's conversation
    /// until the next such run.
    pub front: bool,
    pub input: Value,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    pub status: Status,
    pub reason: String,
    pub seq: u64,
    pub at: Timestamp,
    /// Sequence number of the event that contains the final text and the result of the run. Normally, the event that
    /// ended the run. If an answer in the result was erased later, the event that records the erasure.
    pub told: u64,
    pub text: Option<String>,
    pub result: Value,
}

/// Record of the erasure of a run's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    pub by: String,
    pub at: Timestamp,
    pub because: ErasureReason,
}

/// Legal hold on a run, which forbids the erasure of the run's content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegalHold {
    pub by: String,
    pub at: Timestamp,
    /// Reason for the legal hold. `None` if no reason was given or the reason is erased.
    pub reason: Option<String>,
}

impl LegalHold {
    /// Returns the reason for the legal hold in parentheses, for the end of a sentence that names the person and the
    /// time.
    pub(super) fn why(&self) -> String {
        self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    }
}

impl Run {
    pub fn new(id: RunId, definition: Arc<Definition>) -> Self {
        Self {
            id,
            definition,
            seq: 0,
            last_at: Timestamp::from_millis(0),
            started: None,
            epoch: 0,
            paused: false,
            paused_at: None,
            suspended: false,
            interrupted: None,
            ended: None,
            phases: SharedMap::new_sync(),
            steps: OpenMap::default(),
            plans: SharedMap::new_sync(),
            rounds: SharedMap::new_sync(),
            called: SharedMap::new_sync(),
            calls: OpenMap::default(),
            interrupts: OpenMap::default(),
            proposed: 0,
            spent: Spent::default(),
            released: SharedList::new_sync(),
            messages: SharedList::new_sync(),
            undone: SharedMap::new_sync(),
            earlier: None,
            erased_to: 0,
            erased: None,
            held: None,
        }
    }

    pub fn open_interrupts(&self) -> impl Iterator<Item = (&InterruptId, &Interrupt)> {
        self.interrupts.open()
    }

    /// Returns true if a text to the agents is a notice about an undo. No person wrote such a text.
    pub(crate) fn is_of_an_undo(&self, told: &str) -> bool {
        self.undone.values().any(|undone| **undone == *told)
    }

    pub fn config(&self) -> Option<&Config> {
        self.started.as_ref().map(|started| &started.config)
    }

    pub fn session(&self) -> Option<&SessionId> {
        self.started.as_ref().map(|started| &started.session)
    }

    /// Returns true if no new work may begin, because a person paused the run or its session is suspended.
    pub fn is_paused(&self) -> bool {
        self.paused || self.suspended
    }

    /// Returns true if a message in the session began the run.
    pub fn is_front(&self) -> bool {
        self.started.as_ref().is_some_and(|started| started.front)
    }

    /// Returns the agent that talks with the person: the active worker or planner, or else the first agent of the
    /// workflow. Agents that carry out a plan, judge, or improve a text do not talk to the person.
    pub fn agent_in_front(&self) -> Option<&str> {
        let talks = |step: &&Step| matches!(step.role, StepRole::Worker | StepRole::Planner);
        let at_work = self.steps.open().map(|(_, step)| step).find(talks).filter(|_| self.ended.is_none());
        at_work.map(|step| step.agent.as_str()).or_else(|| self.definition.front_agent())
    }

    /// Returns the task of the run as text.
    pub fn task(&self) -> Cow<'_, str> {
        let input = self.started.as_ref().map_or(&Value::Null, |started| &started.input);
        match input.get("task").and_then(Value::as_str) {
            Some(task) => task.into(),
            None => readable(input).into(),
        }
    }

    pub fn replaces_a_plan(&self, interrupt: &Interrupt) -> bool {
        // If a planner proposes the plan, the interrupt has a step. If a person replaces the plan, the interrupt has no
        // step.
        let About::Plan(phase) = &interrupt.opened.about else { return false };
        interrupt.opened.step.is_none() && self.plans.get(phase).is_some_and(|plan| plan.settled.is_some())
    }

    /// Returns true if the actor started the run for an external agent.
    pub fn is_begun_by(&self, actor: &Actor) -> bool {
        let by = self.started.as_ref().map(|started| &started.by);
        self.definition.is_external() && by.is_some_and(|by| (by.role, &by.id) == (actor.role, &actor.id))
    }

    fn phase(&self, id: &str) -> Option<&Phase> {
        let own = self.definition.phases.iter().find(|phase| phase.id == id);
        own.or_else(|| self.called.get(id).map(|called| &called.phase))
    }

    fn spec(&self, tool: &str) -> Option<&tool::Spec> {
        self.definition.tools.get(tool)
    }

    /// Returns true if a tool possibly changes something. An unknown tool is assumed to change something.
    fn writes(&self, tool: &str) -> bool {
        match self.spec(tool).map(|spec| &spec.runs) {
            Some(tool::Runs::Here { effect, .. } | tool::Runs::Client { effect, .. }) => {
                *effect == tool::Effect::Write
            }
            Some(
                tool::Runs::Opens(_) | tool::Runs::HandsOver(_) | tool::Runs::Begins(_) | tool::Runs::Records,
            ) => false,
            None => true,
        }
    }

    /// Returns the treatment of a tool call that was running when its process stopped. A commit is continued, because
    /// the files show which writes are still missing.
    fn on_crash(&self, call: &Call) -> tool::OnCrash {
        if call.committing().is_some() {
            return tool::OnCrash::Rerun;
        }
        match self.spec(&call.tool).map(|spec| &spec.runs) {
            Some(tool::Runs::Here { on_crash, .. }) => *on_crash,
            // A client runs the call, so the stop of this process does not affect the call.
            Some(
                tool::Runs::Client { .. }
                | tool::Runs::Opens(_)
                | tool::Runs::HandsOver(_)
                | tool::Runs::Begins(_)
                | tool::Runs::Records,
            )
            | None => tool::OnCrash::Ask,
        }
    }

    fn last_turn<'a>(&'a self, step: &'a Step) -> Option<(&'a str, Vec<&'a Call>)> {
        match step.entries.iter().rev().find(|entry| matches!(entry, Entry::Turn { .. }))? {
            Entry::Turn { text, calls, .. } => {
                Some((text, calls.iter().filter_map(|id| self.calls.get(id)).map(|call| &**call).collect()))
            }
            Entry::Note { .. } => None,
        }
    }
}
