//! The queue to a socket's reader. The queue is short, and waiting for the reader is limited. A reader that takes
//! nothing is disconnected and reconnects with its cursor. Previews never wait.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::limits::SOCKET_FRAMES;

/// Queue of encoded frames. A wire that tracks how far its reader was served marks frames with `M`.
pub struct Outbox<M = Infallible> {
    queue: mpsc::Sender<Queued<M>>,
    patience: Duration,
}

/// A frame that waits to be written.
#[derive(Debug, PartialEq, Eq)]
pub struct Queued<M = Infallible> {
    pub text: Utf8Bytes,
    /// Mark that is reported once the frame is written.
    pub mark: Option<M>,
}

/// Reason for not sending a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The reader has disconnected.
    Gone,
    /// The reader reads too slowly.
    Slow,
}

impl<M> Outbox<M> {
    pub fn new(patience: Duration) -> (Self, mpsc::Receiver<Queued<M>>) {
        let (queue, reader) = mpsc::channel(SOCKET_FRAMES);
        (Self { queue, patience }, reader)
    }

    pub async fn put(&self, text: Utf8Bytes) -> Result<(), Unsent> {
        self.put_marked(text, None).await
    }

    pub async fn put_marked(&self, text: Utf8Bytes, mark: Option<M>) -> Result<(), Unsent> {
        match timeout(self.patience, self.queue.send(Queued { text, mark })).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => Err(Unsent::Gone),
            Err(_) => Err(Unsent::Slow),
        }
    }

    /// Queues a frame that a slow reader can do without.
    pub fn offer(&self, text: Utf8Bytes) {
        // Dropped if the queue is full or closed.
        let _ = self.queue.try_send(Queued { text, mark: None });
    }
}
