//! The way to one reader: a short queue, and a limit to how long its writer waits. A reader that stays away is
//! given up; it comes back with its cursor. Previews do not wait at all.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::limits::STREAM_FRAMES;

pub(crate) struct Outbox<T> {
    queue: mpsc::Sender<T>,
    patience: Duration,
}

/// Why something is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsent {
    /// The reader has gone away.
    Gone,
    /// The reader reads too slowly.
    Slow,
}

impl<T> Outbox<T> {
    pub(crate) fn new(patience: Duration) -> (Self, mpsc::Receiver<T>) {
        let (queue, reader) = mpsc::channel(STREAM_FRAMES);
        (Self { queue, patience }, reader)
    }

    pub(crate) async fn put(&self, frame: T) -> Result<(), Unsent> {
        match timeout(self.patience, self.queue.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Unsent::Gone),
            Err(_) => Err(Unsent::Slow),
        }
    }

    /// Something that a reader who is behind can do without.
    pub(crate) fn offer(&self, frame: T) {
        // Full or gone: either way it is dropped.
        let _ = self.queue.try_send(frame);
    }

    /// Resolves when the reader has gone away.
    pub(crate) async fn gone(&self) {
        self.queue.closed().await;
    }
}
