//! Sends notifications: formats and signs a message for a channel, and checks the address of the receiver.
//!
//! This crate uses no store and makes no decisions. The outbox of the engine (`engine/src/outbox`) decides if, when and
//! how often a message is sent. [`Channels`] contains the configured channels with their secrets. [`Message`] is the
//! content of one delivery. `phrases.rs` contains the texts in each language. `format/` renders a message for each type
//! of channel. `mail/` builds mails, `slack.rs` calls Slack, and `push.rs` sends push messages to browsers. `send.rs`
//! makes one delivery attempt.
//!
//! A message contains no content of a run, with three exceptions. Two depend on the channel: the title, and the
//! redacted summary of a review. The third is the resolution in a message to the agent that asked.

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
