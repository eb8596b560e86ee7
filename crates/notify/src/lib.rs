//! Sends notifications: formats and signs a message, checks the address of the receiver, and sends the message.
//!
//! This crate does not use the store, and decides nothing about when to send. The outbox of the engine
//! (`engine/src/outbox`) decides if, when and how often a message is sent. [`Channels`] are the configured channels,
//! with their secrets. [`Message`] is the content of one delivery. `phrases.rs` contains the texts in each language.
//! `format/` renders a message for each type of channel. `mail/` builds mails, `slack.rs` calls Slack, and `push.rs`
//! sends push messages to browsers. `send.rs` makes one delivery attempt.
//!
//! A message contains no content of a run, except in three cases. Depending on the channel, it contains the title of
//! the interrupt, or the summary of a review without customer data. A message to the agent that asked contains the
//! resolution.

mod channel;
mod format;
pub mod limits;
mod mail;
mod message;
mod phrases;
mod push;
mod retry_after;
mod seal;
mod send;
mod sign;
mod slack;
mod summary;
mod vapid;

pub use channel::{Channel, Channels, Encoding, Error, Secrets};
pub use format::crew_body;
pub use message::{Button, LinkAccess, Message, Reader, Tone, title};
pub use push::{BadBrowser, Browser};
pub use retry_after::retry_after;
pub use send::{Sent, Verdict};
pub use sign::{Secret, SecretError};
pub use slack::SlackMessageRef;
pub use summary::summary;
pub use vapid::{BadVapid, Vapid};
