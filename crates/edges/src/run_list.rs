//! Loads the current states of the runs that a list shows. A run that is not in memory must be replayed from its
//! events. One list may therefore replay only a limited number of events, like a page of the native API. While a list
//! replays events, it occupies one of the streams whose number the server limits. After the limit is reached, the list
//! shows only the data in the database rows of the remaining runs.

use std::sync::Arc;

use holdshort_core::projection::RunRow;
use holdshort_core::run::Run;
use holdshort_web::app::App;
use holdshort_web::limits::SCANNED_EVENTS;
use holdshort_web::problem::Answer;
use tokio::sync::OwnedSemaphorePermit;

pub(super) struct RunListReader {
    /// Number of events that may still be replayed for the current list of runs.
    room: u64,
    _place: OwnedSemaphorePermit,
}

impl RunListReader {
    pub(super) fn new(app: &App) -> Answer<Self> {
        Ok(Self { room: SCANNED_EVENTS as u64, _place: app.reserve_stream()? })
    }

    /// Returns the current state of a run in a list. Returns `None` if the run has ended or if the list's limit of
    /// events is reached.
    pub(super) async fn run(&mut self, app: &App, row: &RunRow) -> Answer<Option<Arc<Run>>> {
        if row.ended_seq.is_some() || row.seq > self.room {
            return Ok(None);
        }
        self.room -= row.seq;
        Ok(Some(app.run_now(&row.run).await?))
    }

    /// Returns the current state of a run in a list, even if the run has ended. Returns `None` if the list's limit of
    /// events is reached. The first run of a list is always loaded, no matter how many events it has.
    pub(super) async fn any_run(&mut self, app: &App, row: &RunRow) -> Answer<Option<Arc<Run>>> {
        if !take(&mut self.room, row.seq) {
            return Ok(None);
        }
        Ok(Some(app.run_now(&row.run).await?))
    }
}

/// Subtracts the events of a run from `room`, the number of events that may still be replayed for a list. Returns false
/// if `room` is smaller than the number of these events. The first run of a list is always accepted.
fn take(room: &mut u64, events: u64) -> bool {
    let fits = events <= *room || *room == SCANNED_EVENTS as u64;
    if fits {
        *room = room.saturating_sub(events);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_run_may_have_more_events_than_the_limit() {
        let most = SCANNED_EVENTS as u64;
        let table: [(&[u64], &[bool]); 5] = [
            (&[10, most - 10, 1], &[true, true, false]),
            (&[10, most - 9, 1], &[true, false, true]),
            (&[most, 1], &[true, false]),
            (&[most + 1, 1], &[true, false]),
            (&[1, most + 1], &[true, false]),
        ];
        for (runs, expected) in table {
            let mut room = most;
            let taken: Vec<bool> = runs.iter().map(|events| take(&mut room, *events)).collect();
            assert_eq!(taken, expected, "{runs:?}");
        }
    }
}
