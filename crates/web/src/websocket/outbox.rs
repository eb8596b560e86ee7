//! Queue of frames for the client of a socket. The queue is short, and waiting for free space has a time limit. A
//! client that receives no frames is disconnected, and can reconnect with its cursor. Previews do not wait. If the
//! queue is full, previews are dropped.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::limits::SOCKET_FRAMES;

/// Queue of encoded frames. A caller that needs to know which frames were written attaches marks of the type `M` to
/// frames.
pub struct Outbox<M = Infallible> {
    queue: mpsc::Sender<Queued<M>>,
    patience: Duration,
}

/// Frame that waits to be written.
#[derive(Debug, PartialEq, Eq)]
pub struct Queued<M = Infallible> {
    pub text: Utf8Bytes,
    /// Mark that the writer reports after it has written the frame.
    pub mark: Option<M>,
}

/// Reason why a frame was not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unsent {
    /// The client has disconnected.
    Gone,
    /// The client reads too slowly.
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

    /// Queues a frame that can be dropped if the client is slow.
    pub fn offer(&self, text: Utf8Bytes) {
        // The frame is dropped if the queue is full or closed.
        let _ = self.queue.try_send(Queued { text, mark: None });
    }
}
