//! Long polls: answered when the interrupt is resolved, or when the time is over.

use std::time::Duration;

use holdshort_core::projection::InterruptRow;
use holdshort_protocol::Code;

use crate::app::App;
use crate::problem::{Answer, Refused};

/// The interrupt's row when it is resolved, or as it is when the time is over or the server stops. Holds a
/// receiver and a timer; a client that goes away drops both.
pub async fn for_resolution(app: &App, row: InterruptRow, seconds: u16) -> Answer<InterruptRow> {
    if seconds == 0 || !row.open {
        return Ok(row);
    }
    let Ok(_permit) = app.polls.try_acquire() else { return Err(Refused::of(Code::TooManyStreams)) };
    // Before the row is read again: what is committed in between is not missed.
    let mut commits = app.driver.watch(&row.run);
    let over = tokio::time::sleep(Duration::from_secs(seconds.into()));
    tokio::pin!(over);
    loop {
        let row = known(app, &row).await?;
        if !row.open {
            return Ok(row);
        }
        tokio::select! {
            changed = commits.changed() => if changed.is_err() { return Ok(row) },
            // What was written elsewhere may be there without having been told yet.
            () = &mut over => return app.interrupt_row(&row.interrupt).await,
            () = app.stopped() => return Ok(row),
        }
    }
}

/// The row from the run where that is loaded: whoever changes it there tells those who wait.
async fn known(app: &App, row: &InterruptRow) -> Answer<InterruptRow> {
    match app.driver.glance(&row.run).and_then(|run| run.interrupt_rows([&row.interrupt]).pop()) {
        Some(row) => Ok(row),
        None => app.interrupt_row(&row.interrupt).await,
    }
}
