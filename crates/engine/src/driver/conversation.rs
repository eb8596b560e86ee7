//! Delivers messages of people to a session. A message that names a question answers this question. Any other message
//! goes to the front run: the live run that talks to the person. If there is no front run, the message starts one. Each
//! message is one append to two streams: the stream of the run and the stream of the session. Messages of earlier runs
//! are not cached: they are read from the earlier front runs each time.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::conversation::{Turn, render_history};
use holdshort_core::definition::Definition;
use holdshort_core::id::{InterruptId, RunId, SessionId, StreamId};
use holdshort_core::interrupt::{Decision, Kind};
use holdshort_core::limits::{EARLIER_BYTES, EARLIER_RUNS};
use holdshort_core::run::{Config, Input, Origin, Rejection, Run};
use holdshort_core::schema::Problem;
use holdshort_core::session::Session;
use holdshort_core::trace_parent::TraceParent;
use holdshort_store::Journal;
use serde_json::{Map, Value};

use super::Driver;
use super::key::IdempotencyKey;
use super::start::{StartRun, StartedRun, TakesFront};
use super::streams::ATTEMPTS;
use crate::{Clock, Error, Executor};

/// A message to a session.
pub struct Say {
    pub session: SessionId,
    pub text: String,
    /// Question that the message answers.
    pub to: Option<InterruptId>,
    /// Agent that receives the message. If another agent currently talks to the person, the run of the other agent is
    /// cancelled.
    pub agent: Option<String>,
    /// Reason for choosing `agent`. The cancelled run of the other agent records it.
    pub reason: Option<String>,
    pub key: Option<IdempotencyKey>,
    /// Parameters of the next run, if the message starts one. `None` if no run can start.
    pub next: Option<NextRun>,
}

/// Parameters of the run that a message starts, except the message itself.
#[derive(Clone, Debug)]
pub struct NextRun {
    pub definition: Arc<Definition>,
    pub config: Config,
    /// Input fields of the run in addition to `task`.
    pub input: Map<String, Value>,
    /// Trace to which the run belongs.
    pub trace: Option<TraceParent>,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Delivers a message. Returns the run that received the message, and the question if the message answered one.
    pub async fn say(self: &Arc<Self>, say: &Say, actor: &Actor) -> Result<StartedRun, Error> {
        if let Some(known) = self.find_started_run(say.key.as_ref()).await? {
            return Ok(known);
        }
        self.require_session(&say.session).await?;
        if let Some(question) = &say.to {
            return self.answer(say, question, actor).await;
        }
        for _ in 0..ATTEMPTS {
            let session = self.session(&say.session).await?;
            let front = match session.front_run() {
                Some(run) => Some(self.now(run).await?),
                None => None,
            };
            let Some(live) = front.as_ref().filter(|run| run.ended.is_none()) else {
                let start = say.build_start(&session)?;
                match self.start(start, actor.clone()).await {
                    Err(Error::FrontTaken) => continue,
                    started => return started,
                }
            };
            let is_for_another =
                say.agent.as_deref().is_some_and(|agent| live.agent_in_front() != Some(agent));
            let input = if is_for_another {
                // Checked first: if the new run cannot start, the live run must not be cancelled.
                self.check_start(&say.build_start(&session)?, actor.clone()).await?;
                let agent = say.agent.as_deref().unwrap_or_default();
                let reason = say.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                Input::Cancel { text: Some(format!("agent `{agent}` continues instead{reason}")) }
            } else {
                Input::Message { text: say.text.clone() }
            };
            let key = say.key.clone().filter(|_| !is_for_another);
            match self.send_once(&live.id, input, key, actor.clone()).await {
                Ok(_) if is_for_another => {}
                // The run ended between the check and the message. The loop tries again.
                Err(Error::Rejected(Rejection::Ended(_))) => {}
                said => return said,
            }
        }
        Err(Error::Busy)
    }

    async fn answer(
        self: &Arc<Self>,
        say: &Say,
        question: &InterruptId,
        actor: &Actor,
    ) -> Result<StartedRun, Error> {
        let asked = self.journal.interrupt(question).await?.filter(|row| row.session == say.session);
        let Some(asked) = asked else { return Err(Error::NotFound) };
        if asked.kind != Kind::Question {
            let problem = Problem::new("/to", "is not a question, so a message cannot answer it");
            return Err(Rejection::Invalid(vec![problem]).into());
        }
        let decision =
            Decision { option: "answer".to_owned(), text: Some(say.text.clone()), ..Decision::default() };
        let input = Input::Decide { interrupt: question.clone(), decision, holder: None };
        let sent = self.send_once(&asked.run, input, say.key.clone(), actor.clone()).await?;
        Ok(StartedRun { interrupt: Some(question.clone()), ..sent })
    }

    /// Returns the current state of a run. Uses the state in memory if the run is loaded.
    pub async fn now(&self, run: &RunId) -> Result<Arc<Run>, Error> {
        match self.current(run).await {
            Some(run) => Ok(run),
            None => self.load(run).await,
        }
    }

    /// Returns the conversation before a run, if messages of people in its session go to the run (front run). Returns
    /// `None` for any other run.
    pub(super) async fn earlier_of(&self, run: &Run) -> Result<Option<Arc<str>>, Error> {
        let Some(id) = run.session().filter(|_| run.is_front()) else { return Ok(None) };
        let (mut session, _) = self.session_chain(id).await?;
        if !session.front.runs.iter().any(|front| *front == run.id) {
            // The cached session does not contain the run if another node started it. In this case the session is read
            // again.
            self.streams.forget(&StreamId::Session(id.clone()));
            session = self.session_chain(id).await?.0;
        }
        self.earlier(&session, &run.id).await
    }

    /// Returns the session's conversation before `run`. The run may not have started yet. The earlier runs have ended.
    /// Therefore the result changes only if content of these runs is erased. If an earlier run is unreadable, the
    /// result says which run.
    pub(super) async fn earlier(&self, session: &Session, run: &RunId) -> Result<Option<Arc<str>>, Error> {
        let (mut turns, mut bytes) = (Vec::new(), 0);
        let mut before = session.front_before(run);
        for earlier in before.by_ref().take(EARLIER_RUNS) {
            let turn = match self.now(earlier).await {
                Ok(run) => Turn::from_run(&run, session),
                Err(error) if error.is_unreadable() => {
                    tracing::error!(run = %earlier, %error, "the conversation of a run cannot be read");
                    Turn::unreadable()
                }
                Err(error) => return Err(error),
            };
            bytes += turn.bytes();
            turns.push(turn);
            if bytes > EARLIER_BYTES {
                break;
            }
        }
        Ok(render_history(turns, before.next().is_none()))
    }
}

impl Say {
    fn build_start(&self, session: &Session) -> Result<StartRun, Error> {
        let invalid = |pointer: &str, message: String| Error::Start(vec![Problem::new(pointer, message)]);
        let Some(next) = &self.next else {
            return Err(Error::NothingBegins);
        };
        let base = &next.definition;
        let agent = match (&self.agent, &session.front.agent) {
            (Some(agent), _) => Some(agent),
            // The previous agent is kept only if the workflow still contains it.
            (None, before) => before.as_ref().filter(|agent| base.agents.contains_key(*agent)),
        };
        let definition = match agent {
            Some(agent) if base.front_agent() != Some(agent) => {
                let Some(variant) = base.begun_by(agent) else {
                    let known: Vec<&str> = base.agents.keys().map(String::as_str).collect();
                    let message = format!(
                        "`{agent}` cannot answer messages; the workflow's agents are: {}",
                        known.join(", ")
                    );
                    return Err(invalid("/agent", message));
                };
                Arc::new(variant)
            }
            Some(_) | None => base.clone(),
        };
        let mut input = next.input.clone();
        input.insert("task".to_owned(), self.text.clone().into());
        Ok(StartRun {
            definition,
            session: Some(self.session.clone()),
            config: next.config.clone(),
            input: Value::Object(input),
            origin: Origin::Native,
            ask: None,
            key: self.key.clone(),
            front: Some(TakesFront { agent: self.agent.clone(), after: session.front_run().cloned() }),
            trace: next.trace,
        })
    }
}
