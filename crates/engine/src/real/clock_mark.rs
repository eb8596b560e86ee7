//! Remembers the latest time of the installation's clock, so that this clock does not run backward after a restart. The
//! time is read from the newest events of the journal, and from a file in the data folder. The file is needed because
//! time also passes without an event.
//!
//! For example, a deadline that expires writes no event by itself. Without the file, an expired deadline could be open
//! again after a restart if the wall clock was set back while no server was running. After a crash, the time in the
//! file is behind by at most `INTERVAL`.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::event;
use holdshort_core::time::{Timestamp, format_duration};
use holdshort_store::{Log, Store};

use super::RealDriver;
use crate::{Clock, DeadlineClock};

const NAME: &str = "clock";
/// Time between two writes of the file with the clock's time.
const INTERVAL: Duration = Duration::from_secs(5);
/// Number of newest events that are read when the server starts, to find the latest timestamp. One event is not enough,
/// because nodes with different clocks may write timestamps in any order.
const NEWEST: usize = 500;
/// Milliseconds by which the wall clock may be behind the clock of the installation before a warning appears.
pub const BEHIND_MS: u64 = 60_000;

/// Sets the clock to the latest time in the journal or in the clock file of the data folder, if this is later than the
/// clock's time.
pub(super) async fn take_up(clock: &DeadlineClock, journal: &Store, data: &Path) {
    if let Some(mark) = read(data) {
        clock.observe(mark);
    }
    let last = *journal.watch().borrow();
    match journal.tail(last.saturating_sub(NEWEST as u64), NEWEST).await {
        Ok(newest) => {
            // A damaged event is skipped here. It is reported when its stream is read.
            for event in newest.iter().filter_map(|positioned| event::decode(&positioned.event).ok()) {
                clock.observe(event.at);
            }
        }
        // A damaged run must not prevent the start of the server.
        Err(error) => tracing::warn!(%error, "the time of the newest events cannot be read"),
    }
    warn(clock);
}

/// Writes the time of the installation's clock to a file in the data folder periodically, until the future is dropped.
pub(super) async fn keep_marking(driver: Arc<RealDriver>) {
    let (mut is_behind, mut is_failing) = (driver.clock().ahead_ms() > BEHIND_MS, false);
    loop {
        let written = write(driver.clock(), &driver.executor().data);
        if let Err(error) = &written
            && !is_failing
        {
            tracing::warn!(%error, "the time cannot be stored in the data folder");
        }
        is_failing = written.is_err();
        let was_behind = std::mem::replace(&mut is_behind, driver.clock().ahead_ms() > BEHIND_MS);
        if is_behind && !was_behind {
            warn(driver.clock());
        }
        driver.clock().sleep(INTERVAL).await;
    }
}

/// Writes the time of the installation's clock to a file in the data folder. The file is replaced atomically, so it is
/// never half written.
pub(super) fn write(clock: &DeadlineClock, data: &Path) -> std::io::Result<()> {
    let next = data.join(format!("{NAME}.next"));
    fs::write(&next, format!("{}\n", clock.now()))?;
    fs::rename(next, data.join(NAME))
}

fn read(data: &Path) -> Option<Timestamp> {
    let path = data.join(NAME);
    match fs::read_to_string(&path).map(|text| text.trim().parse()) {
        Ok(Ok(mark)) => Some(mark),
        Ok(Err(error)) => {
            tracing::warn!(path = %path.display(), %error, "the file is ignored: it contains no time");
            None
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            tracing::warn!(path = %path.display(), %error, "the stored time cannot be read");
            None
        }
    }
}

/// Returns a warning if the wall clock is behind the clock of the installation. Returns `None` if it is not behind.
pub fn warning(clock: &DeadlineClock) -> Option<String> {
    let ahead_ms = clock.ahead_ms();
    (ahead_ms > BEHIND_MS).then(|| {
        format!(
            "the clock of this machine is {} behind the latest time in the journal; until it catches up, \
            Holdshort continues from the latest time at half speed; check the clock",
            format_duration(ahead_ms)
        )
    })
}

fn warn(clock: &DeadlineClock) {
    if let Some(warning) = warning(clock) {
        tracing::warn!("{warning}");
    }
}
