//! A run: one journalled execution, as a machine without I/O.
//!
//! `handle` decides: it returns the events and the next state, and changes nothing. `apply` is the only mutation,
//! infallible, live and on replay alike;
//! `actions` and `next_deadline` say what the world should do now. Read `state.rs` for what there is,
//! `fact/` for what can happen, `advance.rs` for what follows by itself.

mod action;
mod advance;
mod also;
mod apply;
mod apply_content;
mod apply_effects;
mod asking;
mod assigning;
mod call;
mod claim;
mod client;
mod config;
mod decide;
mod draft;
mod effect;
mod ending;
mod external;
mod fact;
mod foreign;
mod found;
mod frozen;
mod gating;
mod given;
mod handle;
mod handoff;
mod held_result;
mod history;
mod hold;
mod input;
mod interruption;
mod interrupts;
mod keeping;
mod lookups;
pub mod merge;
mod model;
mod next_actions;
mod order;
mod outside;
mod oversight;
mod phase;
mod progress;
mod reader;
mod request;
mod returned;
mod said;
mod spent;
mod state;
mod step;
mod step_ids;
mod stop;
mod summary;
mod task;
mod timing;
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
pub use draft::Decided;
pub use external::unkeepable;
pub use fact::{
    Authority, CallEnd, Erased, Fact, Judgement, Listed, Look, Node, PlanPart, Reassigned, Returned,
    RoutedBy, RoutedTask, StepEnd, StepRole, Withdrawn,
};
pub use history::SUMMARISER;
pub use input::{Ask, Begin, ClientOutcome, Context, FrontStart, Hold, Input, Rejection, Start};
pub use order::{Lack, Mending};
pub use oversight::OVERSEER;
pub use progress::Progress;
pub use reader::{Part, StepActivity};
pub use request::another_plan;
pub use said::words;
pub use state::{
    Brief, Call, CallState, Called, Entry, Found, HeldResult, History, ModelCall, Planned, Rounds, Spent,
    Step, Summary, Trial, Trouble, Used,
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

/// The code of a command that met the walls of its effect.
const CONFINED: &str = "confined";
/// Code of a command that made guarded paths, which were set aside, or could not be.
const SET_ASIDE: &str = "set_aside";

/// The state of a run. Public to read; only [`Run::apply`] writes.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    pub definition: Arc<Definition>,
    /// Events applied.
    pub seq: u64,
    pub last_at: Timestamp,
    /// What the first event says; `None` before it.
    pub started: Option<Arc<Started>>,
    /// The last process that started or took over work of this run.
    pub epoch: u64,
    /// A person stopped it.
    pub paused: bool,
    /// When somebody last did.
    pub paused_at: Option<Timestamp>,
    /// Its session is suspended.
    pub suspended: bool,
    /// What holds all of it: the turn of a person who interrupted it, or a review that a service wanted.
    pub interrupted: Option<InterruptId>,
    pub ended: Option<Arc<Ended>>,
    /// Started phases; `Some` once ended.
    pub phases: SharedMap<String, Option<StepEnd>>,
    pub steps: OpenMap<String, Step>,
    /// The plans of planning phases.
    pub plans: SharedMap<String, Planned>,
    /// The rounds of copilot phases.
    pub rounds: SharedMap<String, Arc<Rounds>>,
    /// Phases that calls began, by their ids.
    pub called: SharedMap<String, Arc<Called>>,
    pub calls: OpenMap<String, Call>,
    pub interrupts: OpenMap<InterruptId, Interrupt>,
    /// Calls proposed so far: the next one's number.
    pub proposed: u32,
    /// Over all steps.
    pub spent: Spent,
    /// `{title, content}` of what reviews released, in order.
    pub released: SharedList<Value>,
    /// What people told the run, or said about a step, and what it was told of undos: steps that start later hear it.
    pub messages: SharedList<Arc<str>>,
    /// The undos that its agents were told of, with what they were told.
    pub undone: SharedMap<RunId, Arc<str>>,
    /// What was said in the conversation before it, as [`conversation::told`](crate::conversation::told) has it. No
    /// event holds it: whoever loads a run to let it go on reads it from the runs before.
    pub earlier: Option<Arc<str>>,
    /// Up to here nothing of what its events said is kept.
    pub erased_to: u64,
    /// Nothing of what it said is kept.
    pub erased: Option<Erasure>,
    /// Nothing of what it said may be erased.
    pub held: Option<LegalHold>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    pub by: Actor,
    pub session: SessionId,
    pub config: Config,
    pub origin: Origin,
    /// It has the front of its session's conversation, or had it.
    pub front: bool,
    pub input: Value,
    pub at: Timestamp,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    pub status: Status,
    pub reason: String,
    pub seq: u64,
    pub at: Timestamp,
    /// The event that holds how: that one, or one that erased an answer from it.
    pub told: u64,
    pub text: Option<String>,
    pub result: Value,
}

/// Erasure of the content of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erasure {
    pub by: String,
    pub at: Timestamp,
    pub because: Erased,
}

/// Somebody holds what a run said from being erased.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LegalHold {
    pub by: String,
    pub at: Timestamp,
    /// `None` once it is erased.
    pub reason: Option<String>,
}

impl LegalHold {
    /// The reason, as the rest of a sentence that says who and when.
    pub(super) fn why(&self) -> String {
        self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    }
}

impl Run {
    /// A run before its first event.
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

    /// Whether agents were told this of an undo: it is nobody's word.
    pub(crate) fn is_of_an_undo(&self, told: &str) -> bool {
        self.undone.values().any(|undone| **undone == *told)
    }

    pub fn config(&self) -> Option<&Config> {
        self.started.as_ref().map(|started| &started.config)
    }

    pub fn session(&self) -> Option<&SessionId> {
        self.started.as_ref().map(|started| &started.session)
    }

    /// Whether nothing new begins in it: a person stopped it, or its session is suspended.
    pub fn is_paused(&self) -> bool {
        self.paused || self.suspended
    }

    /// Whether it was begun by something that was said in its session.
    pub fn is_front(&self) -> bool {
        self.started.as_ref().is_some_and(|started| started.front)
    }

    /// The agent that talks to the person: at work, or planning; before and after that the one that the run began with,
    /// which hears the next word. Those that carry out a plan, judge or improve something talk to nobody.
    pub fn agent_in_front(&self) -> Option<&str> {
        let talks = |step: &&Step| matches!(step.role, StepRole::Worker | StepRole::Planner);
        let at_work = self.steps.open().map(|(_, step)| step).find(talks).filter(|_| self.ended.is_none());
        at_work.map(|step| step.agent.as_str()).or_else(|| self.definition.front_agent())
    }

    /// What it was started to do, in words.
    pub fn task(&self) -> Cow<'_, str> {
        let input = self.started.as_ref().map_or(&Value::Null, |started| &started.input);
        match input.get("task").and_then(Value::as_str) {
            Some(task) => task.into(),
            None => readable(input).into(),
        }
    }

    /// Whether an interrupt asks about another version of a plan that is carried out already.
    pub fn replaces_a_plan(&self, interrupt: &Interrupt) -> bool {
        // Who plans is a step; who replaces a plan is a person.
        let About::Plan(phase) = &interrupt.opened.about else { return false };
        interrupt.opened.step.is_none() && self.plans.get(phase).is_some_and(|plan| plan.settled.is_some())
    }

    /// Whether it is an actor's own: of another framework, and begun by them.
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

    /// Whether a tool changes things, as far as anybody knows.
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

    /// What a crash in the middle of a call means. Changes that were being committed are rolled forward: each file tells
    /// what is left to do.
    fn on_crash(&self, call: &Call) -> tool::OnCrash {
        if call.committing().is_some() {
            return tool::OnCrash::Rerun;
        }
        match self.spec(&call.tool).map(|spec| &spec.runs) {
            Some(tool::Runs::Here { on_crash, .. }) => *on_crash,
            // What the client runs is not touched by a crash of ours.
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

    /// The calls of a step's last turn, if its conversation ends with one.
    fn last_turn<'a>(&'a self, step: &'a Step) -> Option<(&'a str, Vec<&'a Call>)> {
        match step.entries.iter().rev().find(|entry| matches!(entry, Entry::Turn { .. }))? {
            Entry::Turn { text, calls, .. } => {
                Some((text, calls.iter().filter_map(|id| self.calls.get(id)).map(|call| &**call).collect()))
            }
            Entry::Note { .. } => None,
        }
    }
}
