//! Erases the content of runs after the retention time. The events of the runs and their hashes are kept.

use std::sync::Arc;
use std::time::Duration;

use holdshort_core::actor::Actor;
use holdshort_core::event;
use holdshort_core::history;
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::projection::RunRow;
use holdshort_core::run::{ErasureReason, Fact, Input, Rejection};
use holdshort_core::time::Timestamp;
use holdshort_store::{Journal, RunFilter};

use crate::{Clock, Driver, Error, Executor};

/// Delay between the start of the server and the first erasure of old content of runs.
const FIRST: Duration = Duration::from_mins(1);
/// Time between two erasures of old content of runs.
const SWEEP: Duration = Duration::from_hours(1);
/// Number of runs that are read at a time, to find content to erase.
const PAGE: usize = 100;

/// Result of erasing all runs of a subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasedRuns {
    pub erased: Vec<RunId>,
    /// Runs that are not erased because they have not ended.
    pub at_work: Vec<RunId>,
    /// Runs that are not erased because they are under legal hold.
    pub held: Vec<RunId>,
    /// Runs that could not be read or changed. The log contains the reasons.
    pub failed: Vec<RunId>,
}

/// Erases content of runs that is older than `kept`. Repeats this until the future is dropped.
pub async fn keep_erasing<J: Journal, C: Clock, E: Executor>(driver: Arc<Driver<J, C, E>>, kept: Duration) {
    driver.clock().sleep(FIRST).await;
    loop {
        let kept = u64::try_from(kept.as_millis()).unwrap_or(u64::MAX);
        let before = driver.clock().now().minus_ms(kept);
        match driver.erase_old(before).await {
            Ok(0) => {}
            Ok(runs) => tracing::info!(runs, "erased the content of runs whose retention time has passed"),
            Err(error) => tracing::warn!(%error, "content whose retention time has passed cannot be erased"),
        }
        driver.clock().sleep(SWEEP).await;
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Erases the content of a run. Returns true if there was content to erase.
    pub async fn erase_run(
        self: &Arc<Self>,
        run: &RunId,
        because: ErasureReason,
        actor: &Actor,
    ) -> Result<bool, Error> {
        let mut wrote = false;
        while self.change(run, Input::EraseContent { because }, actor.clone()).await? {
            wrote = true;
        }
        // Called even if the content was already erased by an earlier request or on another node: this node may still
        // have data of the run outside the journal.
        self.executor().forget(run);
        Ok(wrote)
    }

    /// Erases the content of all runs whose input has this subject.
    pub async fn erase_subject(self: &Arc<Self>, subject: &str, actor: &Actor) -> Result<ErasedRuns, Error> {
        let mut told = ErasedRuns::default();
        let mut after = None;
        loop {
            let page = self.journal().runs(&RunFilter::default(), after.as_ref(), PAGE).await?;
            for row in page.items {
                let stream = StreamId::Run(row.run.clone());
                let Some(first) = self.journal().read(&stream, 0, 1).await?.into_iter().next() else {
                    continue;
                };
                let first = match event::decode(&first) {
                    Ok(first) => first,
                    Err(error) => {
                        tracing::error!(run = %row.run, %error, "the subject of a run cannot be read");
                        told.failed.push(row.run);
                        continue;
                    }
                };
                if history::subject(&first.content.data) != Some(subject) {
                    continue;
                }
                match self.erase_run(&row.run, ErasureReason::Request, actor).await {
                    Ok(_) => told.erased.push(row.run),
                    Err(Error::Rejected(Rejection::NotEnded)) => told.at_work.push(row.run),
                    Err(Error::Rejected(Rejection::Held)) => told.held.push(row.run),
                    Err(Error::Store(error)) => return Err(Error::Store(error)),
                    // A failure does not prevent the erasure of the remaining runs.
                    Err(error) => {
                        tracing::error!(run = %row.run, %error, "the content of a run cannot be erased");
                        told.failed.push(row.run);
                    }
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(told);
            }
        }
    }

    /// Erases the content of each run whose end and last event are before `before`. Returns the number of these runs.
    /// Erases nothing while the whole installation is frozen.
    pub async fn erase_old(self: &Arc<Self>, before: Timestamp) -> Result<usize, Error> {
        let mut runs = 0;
        let mut after = None;
        loop {
            if self.system().await?.freezes.all.is_some() {
                return Ok(runs);
            }
            let page = self.journal().runs(&RunFilter::default(), after.as_ref(), PAGE).await?;
            for row in page.items {
                if row.status.is_terminal() && row.updated_at < before && self.is_due(&row, before).await? {
                    match self.erase_run(&row.run, ErasureReason::Retention, &Actor::engine()).await {
                        Ok(wrote) => runs += usize::from(wrote),
                        Err(Error::Rejected(Rejection::Held | Rejection::NotEnded) | Error::Busy) => {}
                        Err(Error::Store(error)) => return Err(Error::Store(error)),
                        // A failure does not prevent the erasure of the remaining runs.
                        Err(error) => {
                            tracing::warn!(run = %row.run, %error, "the content of a run cannot be erased");
                        }
                    }
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(runs);
            }
        }
    }

    /// Returns true if the last event of the run is old enough for the content to be erased. Returns false if that
    /// event records that all content was erased.
    async fn is_due(&self, row: &RunRow, before: Timestamp) -> Result<bool, Error> {
        let stream = StreamId::Run(row.run.clone());
        let last = self.journal().read(&stream, row.seq.saturating_sub(1), 1).await?;
        // An unreadable event is treated as due. The damage is reported when the run is erased.
        let Some(last) = last.first().and_then(|sealed| event::decode(sealed).ok()) else { return Ok(true) };
        Ok(last.at < before && !says_all_is_erased(&last.fact))
    }

    /// Returns true if the last event of a run records that all content before it is erased.
    pub(crate) async fn is_erased(&self, row: &RunRow) -> Result<bool, Error> {
        let stream = StreamId::Run(row.run.clone());
        let last = self.journal().read(&stream, row.seq.saturating_sub(1), 1).await?;
        let last = last.first().and_then(|sealed| event::decode(sealed).ok());
        Ok(last.is_some_and(|last| says_all_is_erased(&last.fact)))
    }
}

fn says_all_is_erased(fact: &event::Fact) -> bool {
    matches!(fact, event::Fact::Run(Fact::ContentErased { from: 1, .. }))
}
