//! Runs that a list looks into. What is not in memory is replayed, so one list takes a place among the streams and reads
//! so many events, as a page of the native API does; of runs beyond them it tells what their rows say.

use std::sync::Arc;

use holdshort_core::projection::RunRow;
use holdshort_core::run::Run;
use holdshort_web::app::App;
use holdshort_web::limits::SCANNED_EVENTS;
use holdshort_web::problem::Answer;
use tokio::sync::OwnedSemaphorePermit;

pub(super) struct Glance {
    /// Events that may still be read.
    room: u64,
    _place: OwnedSemaphorePermit,
}

impl Glance {
    pub(super) fn new(app: &App) -> Answer<Self> {
        Ok(Self { room: SCANNED_EVENTS as u64, _place: app.place()? })
    }

    /// A run that has not ended, as it is now, as long as there is room for it.
    pub(super) async fn run(&mut self, app: &App, row: &RunRow) -> Answer<Option<Arc<Run>>> {
        if row.ended_seq.is_some() || row.seq > self.room {
            return Ok(None);
        }
        self.room -= row.seq;
        Ok(Some(app.run_now(&row.run).await?))
    }
}
