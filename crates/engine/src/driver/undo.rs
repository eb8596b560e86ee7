//! Taking back what a run changed: a run of its own, in the same workspace, and in the same session while that is open.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::definition::Definition;
use holdshort_core::id::{RunId, SessionId};
use holdshort_core::json;
use holdshort_core::run::undo::{self, Arguments, NotUndone};
use holdshort_core::run::{Config, Origin, Run, merge};
use holdshort_core::schema::Problem;
use holdshort_core::session::State;
use holdshort_core::trace_parent::TraceParent;
use holdshort_store::{Blob, Journal};
use serde::Serialize;

use super::Driver;
use super::key::IdempotencyKey;
use super::start::{StartRun, StartedRun};
use crate::{Clock, Error, Executor};

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Begins to take back what a run committed after the event `to`. A person is shown the changes, and releases them.
    pub async fn undo(
        self: &Arc<Self>,
        run: &RunId,
        to: u64,
        key: Option<IdempotencyKey>,
        trace: Option<TraceParent>,
        actor: Actor,
    ) -> Result<StartedRun, Error> {
        if let Some(known) = self.known(key.as_ref()).await? {
            return Ok(known);
        }
        let of = self.now(run).await?;
        let undo = of.undo(to).map_err(Error::Undo)?;
        let since = self.undos_of(&of).await?;
        if undo.is_taken_back(&of, &since.iter().map(|run| &**run).collect::<Vec<_>>()) {
            return Err(Error::Undo(NotUndone::TakenBack));
        }
        let definition = undo::definition(&of.definition, &undo.phases).map_err(Error::Undo)?;
        let changes = Blob::new(json::canonical(&undo));
        let arguments = Arguments {
            task: Arguments::task(&of, to),
            run: run.clone(),
            to,
            changes: changes.digest,
            seen: of.seq,
        };
        // There before the run that speaks of it.
        self.journal.put_bodies(vec![changes], self.clock.now()).await?;
        self.start_beside(&of, definition, &arguments, key, trace, actor).await
    }

    /// Begins to put ignored files that only a run has into its workspace. A person is shown the changes, and releases
    /// them. `paths`: some of the files and folders; none of them means all.
    pub async fn merge(
        self: &Arc<Self>,
        run: &RunId,
        paths: BTreeSet<String>,
        key: Option<IdempotencyKey>,
        trace: Option<TraceParent>,
        actor: Actor,
    ) -> Result<StartedRun, Error> {
        if let Some(known) = self.known(key.as_ref()).await? {
            return Ok(known);
        }
        let of = self.now(run).await?;
        let definition = merge::definition(&of.definition).map_err(Error::Undo)?;
        let arguments = merge::Arguments::new(&of, paths);
        self.start_beside(&of, definition, &arguments, key, trace, actor).await
    }

    /// Starts a run of one call in the workspace and the session of another run.
    async fn start_beside(
        self: &Arc<Self>,
        of: &Run,
        definition: Definition,
        arguments: &impl Serialize,
        key: Option<IdempotencyKey>,
        trace: Option<TraceParent>,
        actor: Actor,
    ) -> Result<StartedRun, Error> {
        let workspace = of.config().and_then(|config| config.workspace.clone());
        let start = StartRun {
            definition: Arc::new(definition),
            session: self.session_of_undo(of).await?,
            config: Config { workspace, ..Config::default() },
            input: serde_json::to_value(arguments).map_err(|e| Error::Internal(e.to_string()))?,
            origin: Origin::Native,
            ask: None,
            key,
            front: None,
            trace,
        };
        self.start(start, actor).await.map_err(|error| match error {
            // It is the run's, and nothing that this request says.
            Error::Start(problems) => Error::Undo(NotUndone::NoWorkspace(words(&problems))),
            other => other,
        })
    }

    /// The undos of the run, and those of these, as its session knows them. One that was begun when that was closed is not
    /// among them.
    async fn undos_of(&self, of: &Run) -> Result<Vec<Arc<Run>>, Error> {
        let Some(id) = of.session() else { return Ok(Vec::new()) };
        let (session, _) = self.session_chain(id).await?;
        let mut known = BTreeSet::from([of.id.clone()]);
        let mut undos = Vec::new();
        for undone in session.undone.iter() {
            if known.contains(&undone.of) && known.insert(undone.by.clone()) {
                undos.push(self.now(&undone.by).await?);
            }
        }
        Ok(undos)
    }

    /// The session of the run; none where that has ended and takes no run any more.
    async fn session_of_undo(&self, of: &Run) -> Result<Option<SessionId>, Error> {
        let Some(id) = of.session() else { return Ok(None) };
        let (session, _) = self.session_chain(id).await?;
        Ok((!matches!(session.state, State::Closed(_))).then(|| id.clone()))
    }
}

fn words(problems: &[Problem]) -> String {
    problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
}
