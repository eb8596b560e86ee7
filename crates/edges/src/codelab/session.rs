//! A client's session: a name for one of ours. The journal's idempotency keys hold which: the first run of a session
//! is started under its name, each later one under the run before it. So a session never has two runs at once,
//! however many clients speak at the same time.

use std::sync::Arc;

use holdshort_core::definition::{Definition, PhaseKind};
use holdshort_core::digest::Digest;
use holdshort_core::id::{Draw, RunId};
use holdshort_core::limits::INPUT_BYTES;
use holdshort_core::run::{Config, Origin, Run};
use holdshort_engine::real::REHEARSAL;
use holdshort_engine::{Clock, Error, IdempotencyKey, StartRun};
use holdshort_protocol::Code;
use holdshort_store::Log;
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::limits::LINE_BYTES;
use holdshort_web::problem::{Answer, Refused};
use serde_json::json;
use tokio::sync::Mutex;

use super::{WORKFLOW, hands, history};

/// Of a run's input, in bytes: the session's name, and what stands between the words.
const INPUT_REST: usize = 16 * 1024;

#[derive(Clone)]
pub(super) struct Session {
    pub(super) caller: Caller,
    /// As the client calls it.
    pub(super) name: String,
    /// Its runs as far as they were read, oldest first. They only become more, so what was read stays true.
    chain: Arc<Mutex<Vec<RunId>>>,
}

/// What the next run of a session begins with.
#[derive(Clone, Copy)]
pub(super) struct Begin<'w> {
    pub(super) said: &'w str,
    pub(super) agent: Option<&'w str>,
    /// Why that one, as the person says.
    pub(super) reason: Option<&'w str>,
}

impl<'w> Begin<'w> {
    pub(super) fn with(said: &'w str) -> Self {
        Self { said, agent: None, reason: None }
    }
}

impl Session {
    pub(super) fn of(person: Caller, name: String) -> Answer<Self> {
        if name.is_empty() || name.len() > LINE_BYTES || name.chars().any(char::is_control) {
            let rule = format!("is empty, longer than {LINE_BYTES} bytes or holds control characters");
            return Err(Refused::invalid_at("/session_id", rule));
        }
        Ok(Self { caller: person, name, chain: Arc::default() })
    }

    /// What connections to it share.
    pub(super) fn key(&self) -> hands::Key {
        (self.caller.actor.id.clone(), self.name.clone())
    }

    /// Its runs, oldest first: those that the chain of keys names, and no other that works in the same session of
    /// ours.
    pub(super) async fn runs(&self) -> Answer<Vec<RunId>> {
        let mut chain = self.chain.lock().await;
        self.read_on(&mut chain).await?;
        Ok(chain.clone())
    }

    /// The newest run as it is now.
    pub(super) async fn last(&self) -> Answer<Option<Arc<Run>>> {
        let newest = {
            let mut chain = self.chain.lock().await;
            self.read_on(&mut chain).await?;
            chain.last().cloned()
        };
        match newest {
            Some(run) => Ok(Some(self.load(&run).await?)),
            None => Ok(None),
        }
    }

    /// A session is there once it has a run.
    pub(super) async fn known(&self) -> Answer<()> {
        if self.runs().await?.is_empty() { Err(Refused::not_found("session")) } else { Ok(()) }
    }

    async fn read_on(&self, chain: &mut Vec<RunId>) -> Answer<()> {
        loop {
            let journal = self.caller.app.journal();
            let key = match chain.last() {
                Some(run) => journal.key(&self.next(), run.as_str()).await?,
                None => journal.key(&self.first(), &self.name).await?,
            };
            let Some(key) = key else { return Ok(()) };
            chain.push(key.reference.parse().map_err(|_| Refused::of(Code::JournalDamaged))?);
        }
    }

    pub(super) async fn load(&self, run: &RunId) -> Answer<Arc<Run>> {
        match self.caller.app.driver.current(run).await {
            Some(run) => Ok(run),
            None => Ok(self.caller.app.driver.load(run).await?),
        }
    }

    /// Starts the session's next run. `false`: somebody else was first.
    pub(super) async fn start(&self, last: Option<&Run>, begin: Begin<'_>) -> Answer<bool> {
        let start = self.next_run(last, begin).await?;
        let (driver, actor) = (self.caller.app.driver.clone(), self.caller.actor.clone());
        match detached(async move { driver.start(start, actor).await }).await {
            Ok(_) => Ok(true),
            Err(Error::KeyReused) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Refuses what `start` would be refused, and changes nothing.
    pub(super) async fn can_start(&self, last: &Run, begin: Begin<'_>) -> Answer<()> {
        let next = self.next_run(Some(last), begin).await?;
        Ok(self.caller.app.driver.check_start(&next, self.caller.actor.clone()).await?)
    }

    /// What the session goes on with: the agent in front that the run before had, or another one.
    async fn next_run(&self, last: Option<&Run>, begin: Begin<'_>) -> Answer<StartRun> {
        let Begin { said, agent, reason } = begin;
        let base = self.caller.app.library.get(WORKFLOW).ok_or_else(|| Refused::of(Code::UnknownWorkflow))?;
        if let Some(agent) = agent.filter(|agent| !base.agents.contains_key(*agent)) {
            let known: Vec<&str> = base.agents.keys().map(String::as_str).collect();
            let rule = format!("no agent is called `{agent}`; there are: {}", known.join(", "));
            return Err(Refused::invalid_at("/agent_type", rule));
        }
        let before = last.and_then(|run| front_of(&run.definition));
        let agent = agent.or(before.filter(|agent| base.agents.contains_key(*agent)));
        let earlier = history::of(self, history_room(said)?).await?;
        let key = match last {
            Some(run) => IdempotencyKey { scope: self.next(), key: run.id.to_string(), digest: self.nonce() },
            None => IdempotencyKey { scope: self.first(), key: self.name.clone(), digest: self.nonce() },
        };
        let mut input =
            json!({ "task": history::task(&earlier, said), "said": said, "session_id": self.name });
        if let Some(reason) = reason {
            input["reason"] = json!(reason);
        }
        Ok(StartRun {
            definition: match agent {
                Some(agent) => begun_by(base, agent)?,
                None => base,
            },
            session: last.and_then(|run| run.session().cloned()),
            config: Config {
                // Without a model the agents play their script, and `session_info` says so.
                model: self.caller.app.model.rehearsal.then(|| REHEARSAL.to_owned()),
                ..Config::default()
            },
            input,
            origin: Origin::Native,
            ask: None,
            key: Some(key),
        })
    }

    fn first(&self) -> String {
        format!("{} edges/codelab first", self.caller.actor.id)
    }

    fn next(&self) -> String {
        format!("{} edges/codelab next", self.caller.actor.id)
    }

    /// Two messages are two, also where their words are the same: none passes for a repeat of another.
    fn nonce(&self) -> Digest {
        let clock = self.caller.app.driver.clock();
        let id: RunId = Draw::new(clock.seed(), clock.now()).id();
        Digest::of(id.as_str().as_bytes())
    }
}

/// What was said before may take so much beside these words, in bytes. They stand in the input twice, and there every
/// byte may take six, as `\u0001` does.
fn history_room(said: &str) -> Answer<usize> {
    let written = json!(said).to_string().len();
    match (INPUT_BYTES - INPUT_REST).checked_sub(2 * written) {
        Some(left) => Ok(left / 6),
        None => Err(Refused::invalid_at("/content", "is too long to begin with, written as JSON: send less")),
    }
}

/// The workflow with another agent in front: as data, and pinned into the run like any other.
fn begun_by(base: Arc<Definition>, agent: &str) -> Answer<Arc<Definition>> {
    if front_of(&base) == Some(agent) {
        return Ok(base);
    }
    let mut variant = (*base).clone();
    match variant.phases.first_mut().map(|phase| &mut phase.kind) {
        Some(PhaseKind::Planning(planning)) => agent.clone_into(&mut planning.planner),
        Some(PhaseKind::OneShot { agent: first }) => agent.clone_into(first),
        _ => return Err(Refused::invalid_at("/agent_type", "this workflow does not begin with one agent")),
    }
    Ok(Arc::new(variant))
}

/// The agent that a workflow begins with.
pub(super) fn front_of(definition: &Definition) -> Option<&str> {
    match &definition.phases.first()?.kind {
        PhaseKind::Planning(planning) => Some(&planning.planner),
        PhaseKind::OneShot { agent } => Some(agent),
        _ => None,
    }
}

/// The agent at work in a run; otherwise the one that it began with, which hears the next word.
pub(super) fn agent_of(run: &Run) -> Option<&str> {
    let at_work = run.steps.values().find(|step| step.end.is_none() && run.ended.is_none());
    at_work.map(|step| step.agent.as_str()).or_else(|| front_of(&run.definition))
}
