//! Queue of the frames that are sent to the client of a socket. The queue is short, and a sender waits only a limited
//! time for free space. A client that takes no frames is disconnected, and can reconnect with its cursor. If the queue
//! is full, a preview is dropped without waiting.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::limits::SOCKET_FRAMES;

/// Queue of encoded frames for one WebSocket. A mark of the type `M` on a frame tells the sender when the frame was
/// written.
pub struct Outbox<M = Infallible> {
    queue: mpsc::Sender<Queued<M>>,
    patience: Duration,
}

/// Encoded frame in the queue of a WebSocket.
#[derive(Debug, PartialEq, Eq)]
pub struct Queued<M = Infallible> {
    pub text: Utf8Bytes,
    /// Value that is reported to the sender after the frame was written.
    pub mark: Option<M>,
}

/// Reason why a frame was not sent on a WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The client of the WebSocket has disconnected.
    Gone,
    /// The client of the WebSocket reads too slowly.
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

    /// Queues a frame for the WebSocket without waiting. The frame is dropped if the queue is full.
    pub fn offer(&self, text: Utf8Bytes) {
        // The frame is dropped if the queue is full or closed.
        let _ = self.queue.try_send(Queued { text, mark: None });
    }
}
