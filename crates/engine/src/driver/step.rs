//! One step of a run: handle an input, add what may start at once, append it all, then perform.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::event::Event;
use holdshort_core::id::RunId;
use holdshort_core::run::{Action, Begin, Context, Input, Rejection, Run};
use holdshort_core::session::{self, Session};
use holdshort_core::system::System;
use holdshort_store::Journal;

use super::Driver;
use super::cells::{Live, Slot};
use super::commit::Committed;
use crate::{Clock, Error, Executor};

/// How often a step is decided again because somebody else wrote first.
const ATTEMPTS: usize = 20;

/// A step that is durable.
pub(super) struct Stepped {
    pub(super) run: Arc<Run>,
    /// A grant was added: other runs of the session may have open asks that it covers.
    pub(super) granted: bool,
}

/// What a step decides: the state after it, and the events that lead there.
pub(super) struct Decided {
    pub(super) run: Run,
    pub(super) session: Session,
    pub(super) events: Vec<Event>,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    pub(super) async fn step(
        self: &Arc<Self>,
        slot: &mut Slot,
        id: &RunId,
        input: Input,
        actor: Actor,
    ) -> Result<Stepped, Error> {
        for _ in 0..ATTEMPTS {
            let live = self.loaded(slot, id).await?;
            // Another process stopped in the middle of this run: its work is settled first.
            let adopts = live.run.needs_adoption(self.journal.epoch());
            let (input, actor) =
                if adopts { (Input::Adopt, Actor::engine()) } else { (input.clone(), actor.clone()) };
            match self.try_step(live, input, actor).await {
                Ok(Some(granted)) if !adopts => return Ok(Stepped { run: live.run.clone(), granted }),
                // Adopted, or somebody else wrote first: again.
                Ok(Some(_) | None) => {}
                Err(error) => {
                    // What an append whose answer got lost had started is performed all the same.
                    if matches!(error, Error::Rejected(_)) && !live.stale {
                        self.perform(live);
                    }
                    return Err(error);
                }
            }
        }
        Err(Error::Busy)
    }

    pub(super) async fn loaded<'s>(&self, slot: &'s mut Slot, id: &RunId) -> Result<&'s mut Live, Error> {
        if slot.as_ref().is_none_or(|live| live.stale) {
            let (run, chain) = self.replay(id).await?;
            match slot {
                Some(live) => live.refresh(run, chain),
                None => *slot = Some(Live::new(run, chain)),
            }
        }
        slot.as_mut().ok_or(Error::NotFound)
    }

    /// Whether something was granted; `None`: somebody else wrote first, read again and decide again.
    async fn try_step(
        self: &Arc<Self>,
        live: &mut Live,
        input: Input,
        actor: Actor,
    ) -> Result<Option<bool>, Error> {
        let Some(session_id) = live.run.session().cloned() else { return Err(Error::NotFound) };
        let (session, session_chain) = self.session_chain(&session_id).await?;
        let (system, _) = self.system_chain().await?;

        let cx = self.context(actor, &session, &system);
        let events = live.run.handle(&cx, input)?;
        let mut decided =
            Decided { run: (*live.run).clone(), session: (*session).clone(), events: Vec::new() };
        decided.take(events);
        self.begin(&mut decided, live, &system).await;

        let granted = decided.events.iter().any(|event| matches!(event.fact, event::Fact::Session(_)));
        if !decided.events.is_empty() {
            match self.commit(decided, live, session_chain, system.seq, Vec::new(), Vec::new()).await? {
                Committed::Yes => {}
                Committed::Conflict | Committed::KeyTaken => return Ok(None),
            }
        }
        self.perform(live);
        Ok(Some(granted))
    }

    pub(super) fn context<'a>(&self, actor: Actor, session: &'a Session, system: &'a System) -> Context<'a> {
        Context {
            now: self.clock.now(),
            seed: self.clock.seed(),
            actor,
            session,
            system,
            epoch: self.journal.epoch(),
        }
    }

    /// Lets everything begin that may: it goes into the same append as what released it.
    pub(super) async fn begin(&self, decided: &mut Decided, live: &Live, system: &System) {
        if system.frozen {
            return;
        }
        loop {
            let mut begins = Vec::new();
            for action in decided.run.actions() {
                if live.in_flight.contains(&action.id()) {
                    continue;
                }
                match action {
                    Action::CallTool { call, .. } => {
                        let paths: Vec<String> = decided
                            .run
                            .calls
                            .get(&call)
                            .and_then(|call| call.look.as_ref())
                            .map(|look| look.preconditions.iter().map(|each| each.path.clone()).collect())
                            .unwrap_or_default();
                        let observed = if paths.is_empty() {
                            Vec::new()
                        } else {
                            self.executor.observe(&decided.run, &paths).await
                        };
                        begins.push(Begin::Tool { call, observed });
                    }
                    Action::CallModel { step, turn, not_before, .. } => {
                        let due = not_before.is_none_or(|at| at <= self.clock.now());
                        if due && self.executor.has_model(&decided.run) {
                            begins.push(Begin::Model { step, turn });
                        }
                    }
                    Action::Inspect { .. } | Action::Probe { .. } => {}
                }
            }
            if begins.is_empty() {
                return;
            }
            let session = decided.session.clone();
            let cx = self.context(Actor::engine(), &session, system);
            match decided.run.handle(&cx, Input::Begin { begins }) {
                Ok(events) if events.is_empty() => return,
                Ok(events) => decided.take(events),
                Err(Rejection::Frozen) => return,
                Err(error) => {
                    tracing::error!(run = %decided.run.id, %error, "what should begin was rejected");
                    return;
                }
            }
        }
    }
}

impl Decided {
    pub(super) fn take(&mut self, events: Vec<Event>) {
        self.run.touched.clear();
        for event in events {
            match &event.fact {
                event::Fact::Run(_) => self.run.apply(&event),
                event::Fact::Session(fact) => {
                    let fact: &session::Fact = fact;
                    self.session.apply(fact, event.at, &event.actor);
                }
                event::Fact::System(_) => {}
            }
            self.events.push(event);
        }
    }
}
