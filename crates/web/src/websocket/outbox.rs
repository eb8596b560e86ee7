//! The queue to a socket's reader. It is short, and waiting for the reader is limited: a reader that takes nothing is
//! disconnected and comes back with its cursor. Previews never wait.

use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::limits::SOCKET_FRAMES;

/// Of frames as they are written.
pub struct Outbox {
    queue: mpsc::Sender<Utf8Bytes>,
    patience: Duration,
}

/// Why something is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The reader has gone away.
    Gone,
    /// The reader reads too slowly.
    Slow,
}

impl Outbox {
    pub fn new(patience: Duration) -> (Self, mpsc::Receiver<Utf8Bytes>) {
        let (queue, reader) = mpsc::channel(SOCKET_FRAMES);
        (Self { queue, patience }, reader)
    }

    pub async fn put(&self, frame: Utf8Bytes) -> Result<(), Unsent> {
        match timeout(self.patience, self.queue.send(frame)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Unsent::Gone),
            Err(_) => Err(Unsent::Slow),
        }
    }

    /// Something that a reader who is behind can do without.
    pub fn offer(&self, frame: Utf8Bytes) {
        // Full or gone: either way it is dropped.
        let _ = self.queue.try_send(frame);
    }
}
