//! Which streams of the journal a caller may see. The owner of a run never changes, so it is read once and remembered
//! for all followers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use holdshort_core::actor::Actor;
use holdshort_core::id::{RunId, StreamId};
use holdshort_protocol::{Code, Event};
use holdshort_store::Tables;
use tokio::sync::OnceCell;

use super::encoded::{Count, EncodedEvent, Words};
use crate::app::App;
use crate::auth::{self, Caller};
use crate::limits::SIGHT_RUNS;
use crate::problem::{Answer, Refused};

pub struct Sight(Caller);

impl Sight {
    pub fn of(caller: Caller) -> Self {
        Self(caller)
    }

    pub(super) fn app(&self) -> &Arc<App> {
        &self.0.app
    }

    pub(super) fn caller(&self) -> &Caller {
        &self.0
    }

    pub(super) async fn sees(&self, stream: &StreamId) -> Answer<bool> {
        match stream {
            StreamId::Run(run) => self.sees_run(run).await,
            StreamId::Session(_) | StreamId::System => Ok(self.0.reaches_all()),
        }
    }

    /// What is assigned to somebody are interrupts, not runs. One that went to others is theirs no more; that it went
    /// they are told.
    pub(super) async fn sees_assigned(&self, event: &EncodedEvent) -> Answer<bool> {
        let Some(id) = event.interrupt() else { return Ok(false) };
        // Large.
        match Box::pin(self.0.interrupt(id)).await {
            Ok(_) => Ok(true),
            Err(Refused(problem)) if matches!(problem.code, Code::ForbiddenRole | Code::NotFound) => {
                match &event.sealed.stream {
                    StreamId::Run(run) if event.reassigns() => {
                        Box::pin(self.0.took_part(run, id, event.sealed.seq)).await
                    }
                    StreamId::Run(_) | StreamId::Session(_) | StreamId::System => Ok(false),
                }
            }
            Err(refused) => Err(refused),
        }
    }

    /// An event as bytes, without what is withheld from the caller.
    pub(super) async fn words(&self, event: &EncodedEvent, count: Count) -> Answer<Words> {
        match Box::pin(self.withheld(event, count)).await? {
            Some(event) => Ok(Words::of(&event)),
            None => event.words(count),
        }
    }

    /// The same as it is listed.
    pub(super) async fn event(&self, event: &EncodedEvent, count: Count) -> Answer<Event> {
        match Box::pin(self.withheld(event, count)).await? {
            Some(event) => Ok(event),
            None => event.event(count),
        }
    }

    /// The event for this caller alone; `None`: it is what everybody sees.
    async fn withheld(&self, event: &EncodedEvent, count: Count) -> Answer<Option<Event>> {
        let (StreamId::Run(run), Some(id)) = (&event.sealed.stream, event.interrupt()) else {
            return Ok(None);
        };
        // Whoever sees the run sees all of it.
        if !self.0.reaches_assigned() {
            return Ok(None);
        }
        let run = self.0.app.run_now(run).await?;
        let interrupt = run.interrupts.get(id).ok_or_else(|| Refused::of(Code::JournalDamaged))?;
        if interrupt.opened.withhold.is_empty() {
            return Ok(None);
        }
        event.event_for(interrupt, &self.0.reader().await?, count).map(Some)
    }

    /// Whether a stream is of a run that the caller began as the agent of another framework.
    pub(super) async fn owns(&self, stream: &StreamId) -> Answer<bool> {
        let StreamId::Run(run) = stream else { return Ok(false) };
        // Rare, and large.
        let owner = Box::pin(self.app().owners.of(self.app(), run)).await?;
        Ok(owner.is_some_and(|owner| self.0.is(&owner)))
    }

    pub(super) async fn sees_run(&self, run: &RunId) -> Answer<bool> {
        if self.0.reaches_all() {
            return Ok(true);
        }
        if !self.0.reaches_own() {
            return Ok(false);
        }
        // Rare, and large.
        let owner = Box::pin(self.app().owners.of(self.app(), run)).await?;
        Ok(owner.is_some_and(|owner| self.0.is(&owner)))
    }
}

/// Whose a run is; `None` is nobody's, the operator aside.
type Owner = Option<Arc<Actor>>;

/// The owners of the runs that somebody asked for.
#[derive(Default)]
pub struct Owners(Mutex<HashMap<RunId, Arc<OnceCell<Owner>>>>);

/// Why there is no answer to remember.
enum Unknown {
    NoRun,
    Refused(Refused),
}

impl Owners {
    async fn of(&self, app: &App, run: &RunId) -> Answer<Owner> {
        let cell = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= SIGHT_RUNS && !known.contains_key(run) {
                known.clear();
            }
            known.entry(run.clone()).or_default().clone()
        };
        // Those who ask at the same time wait for one answer.
        match cell.get_or_try_init(|| look(app, run)).await {
            Ok(owner) => Ok(owner.clone()),
            Err(Unknown::NoRun) => Ok(None),
            Err(Unknown::Refused(refused)) => Err(refused),
        }
    }
}

async fn look(app: &App, run: &RunId) -> Result<Owner, Unknown> {
    let row = app.journal().run(run).await.map_err(|error| Unknown::Refused(error.into()))?;
    let owner = auth::owner(app, &row.ok_or(Unknown::NoRun)?).await.map_err(Unknown::Refused)?;
    Ok(owner.map(Arc::new))
}
