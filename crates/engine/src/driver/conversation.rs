//! What somebody says in a session: it answers the question that it names, reaches the front run, or begins the next
//! one. Each is one append of the run's stream and the session's. What was said before is read from the earlier front
//! runs and kept nowhere.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::conversation::{Turn, told};
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

/// Something that is said in a session.
pub struct Say {
    pub session: SessionId,
    pub text: String,
    /// The question that it answers.
    pub to: Option<InterruptId>,
    /// Who is to hear it. Another agent than the one in front: what that one was at is cancelled.
    pub agent: Option<String>,
    /// Why that one; what is cancelled for it is told so.
    pub reason: Option<String>,
    pub key: Option<IdempotencyKey>,
    /// What the next run begins with, should one begin; `None`: none can.
    pub next: Option<NextRun>,
}

/// What the next run of a conversation begins with, beside what is said.
#[derive(Clone, Debug)]
pub struct NextRun {
    pub definition: Arc<Definition>,
    pub config: Config,
    /// Beside `task`.
    pub input: Map<String, Value>,
    /// The trace that it is told as a part of.
    pub trace: Option<TraceParent>,
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Says something. Where it went: the run, and the question that it answers.
    pub async fn say(self: &Arc<Self>, say: &Say, actor: &Actor) -> Result<StartedRun, Error> {
        if let Some(known) = self.known(say.key.as_ref()).await? {
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
                let start = say.begins(&session)?;
                match self.start(start, actor.clone()).await {
                    Err(Error::FrontTaken) => continue,
                    started => return started,
                }
            };
            let is_for_another =
                say.agent.as_deref().is_some_and(|agent| live.agent_in_front() != Some(agent));
            let input = if is_for_another {
                // Nothing is given up for what can not begin.
                self.check_start(&say.begins(&session)?, actor.clone()).await?;
                let agent = say.agent.as_deref().unwrap_or_default();
                let reason = say.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
                Input::Cancel { text: Some(format!("`{agent}` goes on instead{reason}")) }
            } else {
                Input::Message { text: say.text.clone() }
            };
            let key = say.key.clone().filter(|_| !is_for_another);
            match self.send_once(&live.id, input, key, actor.clone()).await {
                Ok(_) if is_for_another => {}
                // It ended between the look and the word.
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
            let problem = Problem::new("/to", "names no question: words do not decide it");
            return Err(Rejection::Invalid(vec![problem]).into());
        }
        let decision =
            Decision { option: "answer".to_owned(), text: Some(say.text.clone()), ..Decision::default() };
        let input = Input::Decide { interrupt: question.clone(), decision, holder: None };
        let sent = self.send_once(&asked.run, input, say.key.clone(), actor.clone()).await?;
        Ok(StartedRun { interrupt: Some(question.clone()), ..sent })
    }

    /// The run as it is now, from memory where it is there.
    pub async fn now(&self, run: &RunId) -> Result<Arc<Run>, Error> {
        match self.current(run).await {
            Some(run) => Ok(run),
            None => self.load(run).await,
        }
    }

    /// What was said before a run that has the front of its conversation.
    pub(super) async fn earlier_of(&self, run: &Run) -> Result<Option<Arc<str>>, Error> {
        let Some(id) = run.session().filter(|_| run.is_front()) else { return Ok(None) };
        let (mut session, _) = self.session_chain(id).await?;
        if !session.front.runs.iter().any(|front| *front == run.id) {
            // Another node began it.
            self.streams.forget(&StreamId::Session(id.clone()));
            session = self.session_chain(id).await?.0;
        }
        self.earlier(&session, &run.id).await
    }

    /// What was said in the session before this run, which may be about to begin. The runs before have ended, so it is
    /// the same whenever it is read, unless something of them is erased. One that can not be read is told as such.
    pub(super) async fn earlier(&self, session: &Session, run: &RunId) -> Result<Option<Arc<str>>, Error> {
        let (mut turns, mut bytes) = (Vec::new(), 0);
        let mut before = session.front_before(run);
        for earlier in before.by_ref().take(EARLIER_RUNS) {
            let turn = match self.now(earlier).await {
                Ok(run) => Turn::of(&run, session),
                Err(error) if error.is_unreadable() => {
                    tracing::error!(run = %earlier, %error, "what was said in a run can not be told");
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
        Ok(told(turns, before.next().is_none()))
    }
}

impl Say {
    /// The run that it begins.
    fn begins(&self, session: &Session) -> Result<StartRun, Error> {
        let invalid = |pointer: &str, message: String| Error::Start(vec![Problem::new(pointer, message)]);
        let Some(next) = &self.next else {
            return Err(Error::NothingBegins);
        };
        let base = &next.definition;
        let agent = match (&self.agent, &session.front.agent) {
            (Some(agent), _) => Some(agent),
            // One that the workflow had, and has no longer, is nobody's choice now.
            (None, before) => before.as_ref().filter(|agent| base.agents.contains_key(*agent)),
        };
        let definition = match agent {
            Some(agent) if base.front_agent() != Some(agent) => {
                let Some(variant) = base.begun_by(agent) else {
                    let known: Vec<&str> = base.agents.keys().map(String::as_str).collect();
                    let message =
                        format!("`{agent}` can not be in front; the agents are: {}", known.join(", "));
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
