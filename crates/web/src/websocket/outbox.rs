//! The queue to a socket's reader. It is short, and waiting for the reader is limited: a reader that takes nothing is
//! disconnected and comes back with its cursor. Previews never wait.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::limits::SOCKET_FRAMES;

/// Of frames as they are written. A wire that wants to know how far its reader was written to marks them with `M`.
pub struct Outbox<M = Infallible> {
    queue: mpsc::Sender<Queued<M>>,
    patience: Duration,
}

/// A frame that waits to be written.
#[derive(Debug, PartialEq, Eq)]
pub struct Queued<M = Infallible> {
    pub text: Utf8Bytes,
    /// What its writing tells the wire.
    pub mark: Option<M>,
}

/// Why something is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The reader has gone away.
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

    /// Something that a reader who is behind can do without.
    pub fn offer(&self, text: Utf8Bytes) {
        // Full or gone: either way it is dropped.
        let _ = self.queue.try_send(Queued { text, mark: None });
    }
}
