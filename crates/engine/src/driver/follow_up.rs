//! A follow-up run is a separate run that undoes or merges the work of an earlier run. A follow-up run makes one call
//! in the workspace of the earlier run. The follow-up run belongs to the session of the earlier run. If that session is
//! closed, a new session continues it. All follow-up runs of the closed session belong to this new session.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::definition::Definition;
use holdshort_core::id::RunId;
use holdshort_core::json;
use holdshort_core::run::undo::{self, NotUndone};
use holdshort_core::run::{Config, Origin, Run, merge};
use holdshort_core::schema::Problem;
use holdshort_core::session::{self, Session};
use holdshort_core::trace_parent::TraceParent;
use holdshort_store::{Blob, Journal};
use serde::Serialize;
use serde_json::Value;

use super::Driver;
use super::key::IdempotencyKey;
use super::start::{StartRun, StartedRun};
use crate::{Clock, Error, Executor};

/// Purpose of a follow-up run. The follow-up run first shows its changes to a person, who approves or rejects them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowUp {
    /// Undoes the commits that the earlier run made after its event `to`.
    Undo { to: u64 },
    /// Copies Git-ignored files from the layer of the earlier run to the workspace.
    Merge {
        /// Files and folders to merge. An empty set merges all of them.
        paths: BTreeSet<String>,
    },
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Starts a separate run that undoes or merges the work of `run`.
    pub async fn follow_up(
        self: &Arc<Self>,
        run: &RunId,
        purpose: FollowUp,
        key: Option<IdempotencyKey>,
        trace: Option<TraceParent>,
        actor: Actor,
    ) -> Result<StartedRun, Error> {
        if let Some(known) = self.find_started_run(key.as_ref()).await? {
            return Ok(known);
        }
        let of = self.now(run).await?;
        let sessions = self.follow_up_sessions(&of).await?;
        let (definition, input) = match purpose {
            FollowUp::Undo { to } => self.undo_of(&of, &sessions, to).await?,
            FollowUp::Merge { paths } => {
                let definition = merge::definition(&of.definition).map_err(Error::Undo)?;
                (definition, input(&merge::Arguments::new(&of, paths))?)
            }
        };
        let start = StartRun {
            definition: Arc::new(definition),
            session: sessions.last().map(|session| session.id.clone()),
            config: Config {
                workspace: of.config().and_then(|config| config.workspace.clone()),
                ..Config::default()
            },
            input,
            origin: Origin::Native,
            ask: None,
            key,
            front: None,
            trace,
        };
        self.start_in_session(start, actor).await.map_err(|error| match error {
            // The caller named a run and not a workspace. Therefore the error says that the workspace of that run was
            // refused.
            Error::Start(problems) => Error::Undo(NotUndone::NoWorkspace(join_messages(&problems))),
            other => other,
        })
    }

    /// Returns the workflow and the input of a run that undoes the commits of `of` after its event `to`.
    async fn undo_of(
        &self,
        of: &Run,
        sessions: &[Arc<Session>],
        to: u64,
    ) -> Result<(Definition, Value), Error> {
        let undo = of.undo(to).map_err(Error::Undo)?;
        let since = self.undos_of(of, sessions).await?;
        if undo.is_taken_back(of, &since.iter().map(|run| &**run).collect::<Vec<_>>()) {
            return Err(Error::Undo(NotUndone::TakenBack));
        }
        let definition = undo::definition(&of.definition, &undo.phases).map_err(Error::Undo)?;
        let changes = Blob::new(json::canonical(&undo));
        let arguments = undo::Arguments {
            task: undo::Arguments::task(of, to),
            run: of.id.clone(),
            to,
            changes: changes.digest,
            seen: of.seq,
        };
        // The bytes are stored before the run starts, because the run's input refers to their digest.
        self.journal.put_bodies(vec![changes], self.clock.now()).await?;
        Ok((definition, input(&arguments)?))
    }

    /// Returns the runs in these sessions that undo `of`, including runs that undo such an undo.
    async fn undos_of(&self, of: &Run, sessions: &[Arc<Session>]) -> Result<Vec<Arc<Run>>, Error> {
        let mut known = BTreeSet::from([of.id.clone()]);
        let mut undos = Vec::new();
        for undone in sessions.iter().flat_map(|session| &session.undone) {
            if known.contains(&undone.of) && known.insert(undone.by.clone()) {
                undos.push(self.now(&undone.by).await?);
            }
        }
        Ok(undos)
    }

    /// Returns the session of the run, followed by the sessions that continue it. If a session is closed, the next
    /// session in the list continues it. The follow-up run starts in the last session of the list, because a closed
    /// session accepts no more runs. The last session of the list may not have been created yet.
    async fn follow_up_sessions(&self, of: &Run) -> Result<Vec<Arc<Session>>, Error> {
        let mut sessions = Vec::new();
        let mut next = of.session().cloned();
        while let Some(id) = next {
            let (session, _) = self.session_chain(&id).await?;
            next = session.state.is_closed().then(|| session::continuation(&id));
            sessions.push(session);
        }
        Ok(sessions)
    }
}

fn input(arguments: &impl Serialize) -> Result<Value, Error> {
    serde_json::to_value(arguments).map_err(|e| Error::Internal(e.to_string()))
}

fn join_messages(problems: &[Problem]) -> String {
    problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; ")
}
