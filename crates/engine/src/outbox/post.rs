//! Sends a message over the network: one delivery attempt. The simulation of whole systems replaces this module.

use std::future::Future;
use std::pin::Pin;

use holdshort_core::notice::CheckpointNotice;
use holdshort_core::time::Timestamp;
use holdshort_notify::{Channel, Message, Sent};

/// Content to send in one delivery attempt.
#[derive(Clone, Copy, Debug)]
pub enum AttemptContent<'a> {
    /// One message, or several messages to the same recipient that are sent as a single one. `inbox` is the address of
    /// the page that lists all open interrupts.
    Messages { messages: &'a [Message], inbox: &'a str },
    /// A checkpoint. All attempts to send it have the same `id`.
    Checkpoint { id: &'a str, notice: &'a CheckpointNotice },
}

pub type Sending<'a> = Pin<Box<dyn Future<Output = Sent> + Send + 'a>>;

/// Sender that makes one delivery attempt.
pub trait Post: Send + Sync + 'static {
    fn send<'a>(&'a self, channel: &'a Channel, letter: AttemptContent<'a>, now: Timestamp) -> Sending<'a>;
}

/// Sender that uses the real network.
#[derive(Clone, Copy, Debug)]
pub struct Network;

impl Post for Network {
    fn send<'a>(&'a self, channel: &'a Channel, letter: AttemptContent<'a>, now: Timestamp) -> Sending<'a> {
        match letter {
            AttemptContent::Messages { messages: [message], .. } => Box::pin(channel.send(message, now)),
            AttemptContent::Messages { messages, inbox } => {
                Box::pin(channel.send_several(messages, inbox, now))
            }
            AttemptContent::Checkpoint { id, notice } => Box::pin(channel.send_checkpoint(id, notice, now)),
        }
    }
}
