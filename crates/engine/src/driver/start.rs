//! Starts runs, and opens interrupts of external agents. Repeated requests are recognised by their key.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::definition::Definition;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::Chain;
use holdshort_core::id::{Draw, InterruptId, RunId, SessionId, StreamId};
use holdshort_core::json;
use holdshort_core::run::{Ask, Config, FrontStart, Input, Origin, Run, Start};
use holdshort_core::session::Session;
use holdshort_core::trace_parent::TraceParent;
use holdshort_store::{Blob, Journal};
use serde_json::Value;

use super::Driver;
use super::commit::{Committed, Extra};
use super::key::IdempotencyKey;
use super::lookups::Lookups;
use super::run_cache::LoadedRun;
use super::step::StepOutcome;
use crate::{Clock, Error, Executor};

#[derive(Clone)]
pub struct StartRun {
    pub definition: Arc<Definition>,
    /// Session of the run. `None` creates a new session.
    pub session: Option<SessionId>,
    pub config: Config,
    pub input: Value,
    pub origin: Origin,
    /// Interrupt that an external agent opens together with the start of the run.
    pub ask: Option<Ask>,
    pub key: Option<IdempotencyKey>,
    /// Present if a message in a conversation starts the run.
    pub front: Option<TakesFront>,
    /// Trace to which the run belongs.
    pub trace: Option<TraceParent>,
}

/// Start of a run that becomes the front run of its session: the run that receives the messages of the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakesFront {
    /// Agent that answers the messages of the conversation from this run on. `None` keeps the previous agent.
    pub agent: Option<String>,
    /// Ended run that received the person's messages before this run, as known to the sender of the message. `None` if
    /// there was no such run.
    pub after: Option<RunId>,
}

#[derive(Clone, Debug)]
pub struct StartedRun {
    pub run: RunId,
    /// Interrupt that the request opened.
    pub interrupt: Option<InterruptId>,
    /// State of the run directly after the request. `None` if the idempotency key was already used: the other fields
    /// then repeat the result of the first request.
    pub left: Option<Arc<Run>>,
}

impl StartedRun {
    /// Returns true if the idempotency key was already used. The result is then the result of the first request.
    pub fn is_replayed(&self) -> bool {
        self.left.is_none()
    }
}

const ATTEMPTS: usize = 20;

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    pub async fn start(self: &Arc<Self>, start: StartRun, actor: Actor) -> Result<StartedRun, Error> {
        let known = match &start.session {
            Some(session) => self.require_session(session).await,
            None => Ok(()),
        };
        let started = match known {
            Ok(()) => self.start_new(&start, actor).await,
            Err(error) => Err(error),
        };
        self.or_first_result(started, start.key.as_ref()).await
    }

    /// Starts a run in the session that the start request names. The start creates the session if it does not exist.
    pub(super) async fn start_in_session(
        self: &Arc<Self>,
        start: StartRun,
        actor: Actor,
    ) -> Result<StartedRun, Error> {
        let started = self.start_new(&start, actor).await;
        self.or_first_result(started, start.key.as_ref()).await
    }

    /// Returns the result of the first request with this idempotency key. The first result is returned even if the
    /// start would be rejected now. If two requests arrive at the same time, the append rejects the key of the later
    /// one.
    async fn or_first_result(
        &self,
        started: Result<StartedRun, Error>,
        key: Option<&IdempotencyKey>,
    ) -> Result<StartedRun, Error> {
        match started {
            Err(error @ Error::Store(_)) => Err(error),
            Err(error) => self.find_started_run(key).await?.ok_or(error),
            started => started,
        }
    }

    async fn start_new(self: &Arc<Self>, start: &StartRun, actor: Actor) -> Result<StartedRun, Error> {
        if let Some(session) = &start.session {
            self.expect_changes_of(session);
        }
        let config =
            self.executor.prepare(&start.definition, start.config.clone()).await.map_err(Error::Start)?;
        let (digest, blobs) = if let Some(digest) = self.definitions.digest_of(&start.definition) {
            (digest, Vec::new())
        } else {
            let blob = Blob::new(json::canonical(&*start.definition));
            (blob.digest, vec![blob])
        };
        for _ in 0..ATTEMPTS {
            let session_id = start.session.clone().unwrap_or_else(|| self.new_session());
            let id: RunId = Draw::new(self.clock.seed(), self.clock.now()).id();
            let (session, session_chain) = match &start.session {
                Some(known) => self.session_chain(known).await?,
                None => (Arc::new(Session::new(session_id.clone())), Chain::START),
            };
            let (system, _) = self.system_chain().await?;
            let mut run = Run::new(id.clone(), start.definition.clone());
            if let Some(front) = &start.front {
                if session.front_run() != front.after.as_ref() {
                    return Err(Error::FrontTaken);
                }
                run.earlier = self.earlier(&session, &id).await?;
            }
            let loaded = LoadedRun::new(run.clone(), Chain::START, self.journal.epoch(), !self.is_shared());
            let input = first(start, session_id, digest, config.clone());
            let cx = self.context(actor.clone(), &session, &system, loaded.epoch);
            let mut decided = run.handle(&cx, input)?;
            if let Some(ask) = &start.ask {
                let cx = self.context(actor.clone(), &decided.session, &system, loaded.epoch);
                let asked = decided.run.handle(&cx, Input::Ask(Box::new(ask.clone())))?;
                decided.then(asked);
            }
            let passage = self.beginnings.enter().await;
            // A run that is starting has no call that could need a lookup.
            let lookups = Lookups::default();
            if passage.is_some() {
                self.begin(&mut decided, &loaded, &system, &lookups);
            }

            let interrupt = start.ask.as_ref().and_then(|_| decided.run.interrupts.keys().next().cloned());
            let reference = interrupt.as_ref().map_or(id.as_str(), |interrupt| interrupt.as_str()).to_owned();
            let keys = start.key.iter().map(|key| key.record(reference.clone())).collect();
            // The lock is held during the commit, so that no other task drives the run before its first actions are
            // running. The run is put into the cache before the commit. If the result of the append is lost, the cache
            // then still knows the recorded starts.
            let entry = self.cache.get(&id);
            let mut slot = entry.lock().await;
            let loaded = slot.insert(loaded);
            let extra = Extra { keys, blobs: blobs.clone() };
            let committed =
                self.commit(decided, loaded, true, (session_chain, &system), extra, &lookups).await;
            match committed {
                Ok(Committed::Yes) => {
                    if !blobs.is_empty() {
                        self.definitions.keep(digest, start.definition.clone());
                    }
                    self.perform(loaded);
                }
                Ok(Committed::Conflict | Committed::KeyTaken | Committed::Driven | Committed::Misses(_)) => {
                    *slot = None;
                }
                Err(_) if loaded.claimed.is_empty() => *slot = None,
                // The start may have been written despite the error. The next sweep checks this, and performs the
                // recorded starts of the run.
                Err(_) => {}
            }
            let left = slot.as_ref().map(|loaded| loaded.run.clone());
            self.release(&id, &entry, &slot);
            drop(passage);
            match committed? {
                Committed::Yes => return Ok(StartedRun { run: id, interrupt, left }),
                Committed::Misses(_) => {
                    return Err(Error::Internal("the start of a run unexpectedly needs a lookup".to_owned()));
                }
                Committed::Conflict | Committed::Driven => {}
                Committed::KeyTaken => return Err(Error::Busy),
            }
        }
        Err(Error::Busy)
    }

    /// Checks a start without changing anything. Returns the error with which a start would be rejected at this moment.
    pub async fn check_start(&self, start: &StartRun, actor: Actor) -> Result<(), Error> {
        let config =
            self.executor.prepare(&start.definition, start.config.clone()).await.map_err(Error::Start)?;
        let session = match &start.session {
            Some(known) => {
                self.require_session(known).await?;
                self.expect_changes_of(known);
                self.session_chain(known).await?.0
            }
            None => Arc::new(Session::new(self.new_session())),
        };
        let (system, _) = self.system_chain().await?;
        let cx = self.context(actor, &session, &system, self.journal.epoch());
        let run = Run::new(Draw::new(self.clock.seed(), self.clock.now()).id(), start.definition.clone());
        run.handle(&cx, first(start, session.id.clone(), start.definition.digest(), config))?;
        Ok(())
    }

    /// Opens an interrupt that an external agent requests, in the run of the agent.
    pub async fn ask(
        self: &Arc<Self>,
        run: &RunId,
        ask: Ask,
        key: Option<IdempotencyKey>,
        actor: Actor,
    ) -> Result<StartedRun, Error> {
        self.send_once(run, Input::Ask(Box::new(ask)), key, actor).await
    }

    /// Gives an input to a run. If several requests have the same idempotency key, only the first one takes effect.
    /// Without a key, this function does the same as [`Driver::send`].
    pub async fn send_once(
        self: &Arc<Self>,
        run: &RunId,
        input: Input,
        key: Option<IdempotencyKey>,
        actor: Actor,
    ) -> Result<StartedRun, Error> {
        if let Some(known) = self.find_started_run(key.as_ref()).await? {
            return Ok(known);
        }
        match self.give(run, input, key.as_ref(), actor).await {
            Ok(StepOutcome { about, run: left, .. }) => {
                Ok(StartedRun { run: run.clone(), interrupt: about, left: Some(left) })
            }
            Err(Error::KeyTaken) => self.find_started_run(key.as_ref()).await?.ok_or(Error::Busy),
            // An earlier request with the same key may have succeeded at the same time, so that this request was
            // rejected. In this case, the result of the earlier request is returned.
            Err(error @ Error::Rejected(_)) => self.find_started_run(key.as_ref()).await?.ok_or(error),
            Err(error) => Err(error),
        }
    }

    /// Returns the result of the first request with this idempotency key.
    pub async fn find_started_run(&self, key: Option<&IdempotencyKey>) -> Result<Option<StartedRun>, Error> {
        let Some(made) = self.made_with(key).await? else { return Ok(None) };
        if let Ok(interrupt) = made.parse::<InterruptId>() {
            let row = self.journal.interrupt(&interrupt).await?.ok_or(Error::NotFound)?;
            return Ok(Some(StartedRun { run: row.run, interrupt: Some(interrupt), left: None }));
        }
        let run = made.parse().map_err(|_| Error::NotFound)?;
        Ok(Some(StartedRun { run, interrupt: None, left: None }))
    }

    /// If other nodes may have changed the session, marks its cached state as stale. The next decision then reads the
    /// session from the journal.
    fn expect_changes_of(&self, session: &SessionId) {
        if self.is_shared() {
            self.streams.forget(&StreamId::Session(session.clone()));
        }
    }

    /// Returns an error if the session does not exist. Without this check, a mistyped id would create a new
    /// conversation.
    pub(super) async fn require_session(&self, session: &SessionId) -> Result<(), Error> {
        self.journal.session(session).await?.map(drop).ok_or(Error::NotFound)
    }
}

fn first(start: &StartRun, session: SessionId, definition: Digest, config: Config) -> Input {
    let (input, origin) = (start.input.clone(), start.origin);
    let front = start.front.as_ref().map(|front| FrontStart { agent: front.agent.clone() });
    Input::Start(Start { session, definition, config, input, origin, front, trace: start.trace })
}
