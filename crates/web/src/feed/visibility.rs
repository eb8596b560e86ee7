//! Decides which events a caller is allowed to see. The owner of a run never changes. The owner is therefore read once
//! and cached for all followers.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use holdshort_core::actor::Actor;
use holdshort_core::id::{RunId, StreamId};
use holdshort_protocol::{Code, Event};
use holdshort_store::Tables;
use tokio::sync::OnceCell;

use super::encoded::{CursorKind, EncodedEvent, EncodedFrame};
use crate::app::App;
use crate::auth::{self, Caller};
use crate::limits::VISIBLE_RUNS;
use crate::problem::{Answer, Refused};

pub struct Visibility(Caller);

impl Visibility {
    pub fn for_caller(caller: Caller) -> Self {
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

    /// Returns true if the event is about an interrupt that is assigned to the caller, or if it ends such an
    /// assignment. Returns false if the event is about no interrupt.
    pub(super) async fn sees_assigned(&self, event: &EncodedEvent) -> Answer<bool> {
        let Some(id) = event.interrupt() else { return Ok(false) };
        // Boxed, since the future is large.
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

    /// Returns the encoded event, without the parts that the caller is not allowed to see.
    pub(super) async fn encode_event(&self, event: &EncodedEvent, count: CursorKind) -> Answer<EncodedFrame> {
        match Box::pin(self.withheld(event, count)).await? {
            Some(event) => Ok(EncodedFrame::from_event(&event)),
            None => event.encode_frame(count),
        }
    }

    /// Returns the event as an item of a list, without the parts that the caller is not allowed to see.
    pub(super) async fn event(&self, event: &EncodedEvent, count: CursorKind) -> Answer<Event> {
        match Box::pin(self.withheld(event, count)).await? {
            Some(event) => Ok(event),
            None => event.event(count),
        }
    }

    /// Returns a redacted copy of the event without the parts that the caller may not see. Returns `None` if the caller
    /// may see the whole event.
    async fn withheld(&self, event: &EncodedEvent, count: CursorKind) -> Answer<Option<Event>> {
        let (StreamId::Run(run), Some(id)) = (&event.sealed.stream, event.interrupt()) else {
            return Ok(None);
        };
        // A caller who may see the run may see the whole event.
        if !self.0.reaches_assigned() {
            return Ok(None);
        }
        let run = self.0.app.run_now(run).await?;
        let interrupt = run.interrupts.get(id).ok_or_else(|| Refused::from_code(Code::JournalDamaged))?;
        if interrupt.opened.withhold.is_empty() {
            return Ok(None);
        }
        event.event_for(interrupt, &self.0.reader().await?, count).map(Some)
    }

    /// Returns true if the stream is a run that the caller started as an external agent.
    pub(super) async fn owns(&self, stream: &StreamId) -> Answer<bool> {
        let StreamId::Run(run) = stream else { return Ok(false) };
        // Boxed, because the future is large and rarely needed.
        let owner = Box::pin(self.app().owners.find_owner(self.app(), run)).await?;
        Ok(owner.is_some_and(|owner| self.0.is(&owner)))
    }

    pub(super) async fn sees_run(&self, run: &RunId) -> Answer<bool> {
        if self.0.reaches_all() {
            return Ok(true);
        }
        if !self.0.reaches_own() {
            return Ok(false);
        }
        // Boxed, because the future is large and rarely needed.
        let owner = Box::pin(self.app().owners.find_owner(self.app(), run)).await?;
        Ok(owner.is_some_and(|owner| self.0.is(&owner)))
    }
}

/// External agent that started a run. `None` if the run is unknown or another actor started it.
type Owner = Option<Arc<Actor>>;

/// Cache that contains, for each run, the agent that owns the run.
#[derive(Default)]
pub struct Owners(Mutex<HashMap<RunId, Arc<OnceCell<Owner>>>>);

/// Reason why the owner of a run could not be determined. The result is then not cached.
enum Unknown {
    NoRun,
    Refused(Refused),
}

impl Owners {
    async fn find_owner(&self, app: &App, run: &RunId) -> Answer<Owner> {
        let cell = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() >= VISIBLE_RUNS && !known.contains_key(run) {
                known.clear();
            }
            known.entry(run.clone()).or_default().clone()
        };
        // Callers that ask at the same time share a single read.
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
