//! Loads the runs of a list. A run that is not in memory must be replayed from its events. Each list therefore may
//! replay only a limited number of events, like a page of the native API, and uses one of the server's limited
//! streams. For the remaining runs, the list shows only the data in their database rows.

use std::sync::Arc;

use holdshort_core::projection::RunRow;
use holdshort_core::run::Run;
use holdshort_web::app::App;
use holdshort_web::limits::SCANNED_EVENTS;
use holdshort_web::problem::Answer;
use tokio::sync::OwnedSemaphorePermit;

pub(super) struct RunListReader {
    /// Number of events that may still be replayed for this list.
    room: u64,
    _place: OwnedSemaphorePermit,
}

impl RunListReader {
    pub(super) fn new(app: &App) -> Answer<Self> {
        Ok(Self { room: SCANNED_EVENTS as u64, _place: app.reserve_stream()? })
    }

    /// Returns the current state of a run. Returns `None` if the run has ended or if the limit of events is reached.
    pub(super) async fn run(&mut self, app: &App, row: &RunRow) -> Answer<Option<Arc<Run>>> {
        if row.ended_seq.is_some() || row.seq > self.room {
            return Ok(None);
        }
        self.room -= row.seq;
        Ok(Some(app.run_now(&row.run).await?))
    }
}
