//! Telling people: what a channel is sent, how that is signed, and where it may go.
//!
//! Knows no store and decides nothing: whether, when and how often something is sent is for the outbox of the engine
//! (`engine/src/outbox`). [`Channels`] are those that are configured, with their secrets; [`Message`] is what one of them is
//! told; `words.rs` has the words, `format/` puts it into the form of each kind of channel, `mail/` into mails, `slack.rs` calls Slack,
//! `push.rs` encrypts for browsers; `send.rs` is one attempt.
//!
//! Nothing here holds content of a run but the title, where the channel says so, and what an agent that asked is answered.

mod channel;
mod format;
pub mod limits;
mod mail;
mod message;
mod push;
mod retry_after;
mod seal;
mod send;
mod sign;
mod slack;
mod vapid;
mod words;

pub use channel::{Channel, Channels, Encoding, Error, Secrets};
pub use format::crew_body;
pub use message::{Button, Message, Reader, Tone, Way, title};
pub use push::{BadBrowser, Browser};
pub use retry_after::retry_after;
pub use send::{Sent, Verdict};
pub use sign::{Secret, SecretError};
pub use slack::Posted;
pub use vapid::{BadVapid, Vapid};
