//! Collects the past frames of a run for one response. A response of this type occupies one of the streams whose number
//! the server limits. A response has a maximum number of events and bytes, like a response of the native API. The
//! response says whether it contains all frames of the run.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::Json;
use holdshort_core::id::RunId;
use holdshort_core::run::Run;
use holdshort_web::app::App;
use holdshort_web::limits::{PAGE_BYTES, SCANNED_EVENTS};
use holdshort_web::problem::Answer;
use serde::Serialize;
use serde_json::Value;
use tokio::sync::OwnedSemaphorePermit;

use super::frame::Frame;
use super::replay::{Next, RunProjection};

pub(super) struct PastFrames {
    pub(super) run: Arc<Run>,
    telling: RunProjection,
    /// True if the response does not contain all frames of the run.
    is_cut: bool,
    _place: OwnedSemaphorePermit,
}

impl PastFrames {
    /// Prepares to read the newest events of a run, up to the maximum for one response.
    pub(super) async fn open(app: &Arc<App>, run: &RunId) -> Answer<Self> {
        let place = app.reserve_stream()?;
        let run = app.run_now(run).await?;
        let since = run.seq.saturating_sub(SCANNED_EVENTS as u64);
        let telling = RunProjection::after(app, None, &run, since).await?;
        Ok(Self { run, telling, is_cut: since > 0, _place: place })
    }

    /// Returns the number of events of the run whose frames the response contains.
    pub(super) fn events(&self) -> usize {
        SCANNED_EVENTS.min(usize::try_from(self.run.seq).unwrap_or(usize::MAX))
    }

    /// Returns the frames of the run's next event, or `None` after the last event.
    pub(super) async fn next(&mut self) -> Answer<Option<Vec<Frame>>> {
        while self.telling.seq() < self.run.seq {
            match self.telling.next().await {
                Some(Next::Frames(mut frames)) => {
                    frames.retain(|frame| frame.id.is_some());
                    return Ok(Some(frames));
                }
                Some(Next::Preview(..)) => {}
                Some(Next::Problem(refused)) => return Err(refused),
                None => break,
            }
        }
        Ok(None)
    }

    /// Converts the frames of a run to items, and returns the newest items, oldest first. Returns at most `most` items,
    /// and no more bytes than a page may have.
    pub(super) async fn newest<T: Serialize>(
        &mut self,
        most: usize,
        make: impl Fn(&Run, &Frame) -> Option<T>,
    ) -> Answer<Vec<T>> {
        let mut newest = Newest { items: VecDeque::new(), most, bytes: 0 };
        while let Some(frames) = self.next().await? {
            for item in frames.iter().filter_map(|frame| make(&self.run, frame)) {
                let size = serde_json::to_vec(&item).map_or(0, |item| item.len());
                self.is_cut |= newest.add(item, size);
            }
        }
        Ok(newest.items.into_iter().map(|(item, _)| item).collect())
    }

    pub(super) fn answer(&self, mut answer: Value) -> Json<Value> {
        answer["run_id"] = self.run.id.as_str().into();
        if self.is_cut {
            answer["truncated"] = true.into();
        }
        Json(answer)
    }
}

/// The newest items of a response, each with its size in bytes. The newest item is never dropped, even if it exceeds
/// the limit of bytes.
struct Newest<T> {
    items: VecDeque<(T, usize)>,
    most: usize,
    bytes: usize,
}

impl<T> Newest<T> {
    /// Adds an item of a response and drops the oldest items beyond the limits. Returns true if an item was dropped
    /// because of the limit of bytes. Items that were dropped because of `most` are not counted as missing, because the
    /// client asked for at most this number of items.
    fn add(&mut self, item: T, size: usize) -> bool {
        self.items.push_back((item, size));
        self.bytes += size;
        let mut is_cut = false;
        while self.items.len() > self.most || (self.bytes > PAGE_BYTES && self.items.len() > 1) {
            is_cut |= self.items.len() <= self.most;
            self.bytes -= self.items.pop_front().map_or(0, |(_, size)| size);
        }
        is_cut
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_stay_as_many_and_as_large_as_fit() {
        const HALF: usize = PAGE_BYTES / 2;
        let table: [(&[usize], usize, &[usize], bool); 5] = [
            (&[1, 2, 3], 5, &[1, 2, 3], false),
            (&[1, 2, 3], 2, &[2, 3], false),
            (&[HALF, HALF], 5, &[HALF, HALF], false),
            (&[1, HALF, HALF], 5, &[HALF, HALF], true),
            (&[1, 2, PAGE_BYTES * 2], 5, &[PAGE_BYTES * 2], true),
        ];
        for (sizes, most, stay, is_cut) in table {
            let mut newest = Newest { items: VecDeque::new(), most, bytes: 0 };
            let was_cut = sizes.iter().fold(false, |cut, size| newest.add(*size, *size) | cut);
            let left: Vec<usize> = newest.items.iter().map(|(size, _)| *size).collect();
            assert_eq!(
                (&*left, was_cut, newest.bytes),
                (stay, is_cut, left.iter().sum()),
                "{sizes:?} of {most}"
            );
        }
    }
}
