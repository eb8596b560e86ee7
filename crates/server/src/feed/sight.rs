//! What a caller may see of the journal, stream by stream. Asks the row of each run once and remembers.

use std::collections::HashMap;
use std::sync::Arc;

use holdshort_core::id::{RunId, StreamId};
use holdshort_store::Journal;

use crate::app::App;
use crate::auth::Caller;
use crate::limits::SIGHT_RUNS;
use crate::problem::Answer;

pub(crate) struct Sight {
    caller: Caller,
    /// Who may see a run never changes. Emptied when it is full.
    known: HashMap<RunId, bool>,
}

impl Sight {
    pub(crate) fn of(caller: Caller) -> Self {
        Self { caller, known: HashMap::new() }
    }

    pub(super) fn app(&self) -> &Arc<App> {
        &self.caller.app
    }

    pub(super) async fn sees(&mut self, stream: &StreamId) -> Answer<bool> {
        match stream {
            StreamId::Run(run) => self.sees_run(run).await,
            StreamId::Session(_) | StreamId::System => Ok(self.caller.is_operator()),
        }
    }

    pub(super) async fn sees_run(&mut self, run: &RunId) -> Answer<bool> {
        if self.caller.is_operator() {
            return Ok(true);
        }
        if let Some(sees) = self.known.get(run) {
            return Ok(*sees);
        }
        let row = self.app().journal().run(run).await?;
        let sees = match &row {
            Some(row) => self.caller.may_see(row).await?,
            None => false,
        };
        if self.known.len() >= SIGHT_RUNS {
            self.known.clear();
        }
        self.known.insert(run.clone(), sees);
        Ok(sees)
    }
}
