//! Renders a message as a request for each type of channel. A request has a body and headers.

mod checkpoint;
mod crew;
mod ntfy;
mod push;
mod slack;
mod teams;
mod webhook;

use holdshort_core::channel::{Checkpoints, Via};
use holdshort_core::notice::CheckpointNotice;
use holdshort_core::time::Timestamp;
use reqwest::Url;
use serde_json::Value;

use crate::channel::Channel;
use crate::message::{Message, Several};
use crate::slack::Call;
pub(crate) use push::Push;

/// Returns the body for clients of the crew edge.
pub use self::crew::body as crew_body;

const JSON: &str = "application/json";

/// POST request that delivers a message.
pub(crate) struct Request {
    pub(crate) url: Url,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Headers,
}

/// Returns the API calls that a Slack bot has to make for a message. `conversation` is the id of the conversation to
/// post to.
pub(crate) fn slack_calls(message: &Message, conversation: &str) -> Vec<Call> {
    slack::calls(message, conversation)
}

pub(crate) fn slack_calls_of_several(several: Several<'_>, conversation: &str) -> Vec<Call> {
    vec![slack::post(slack::several(several), conversation)]
}

/// Escapes a text so that Slack interprets no formatting in it.
pub(crate) fn slack_text(text: &str) -> String {
    slack::escaped(text)
}

/// Returns the push message for a browser.
pub(crate) fn push(message: &Message, now: Timestamp) -> Push {
    push::push(message, now)
}

pub(crate) fn push_of_several(several: Several<'_>, now: Timestamp) -> Push {
    push::several(several, now)
}

type Headers = Vec<(String, String)>;

/// Functions that build the requests of one type of channel.
struct Format {
    /// Returns the URL to which a request is sent. The argument is the URL of the channel.
    address: fn(&Url) -> Url,
    body: fn(&Url, &Message) -> Value,
    /// Returns one body for several messages. `None` if a program reads the messages, because a program receives each
    /// of them separately.
    several: Option<fn(&Url, Several<'_>) -> Value>,
    headers: fn(&Channel, &Message, &[u8], Timestamp) -> Headers,
}

/// Returns the format for a type of channel. Returns `None` for mail and push, which `mail/` and `push.rs` handle.
fn format(via: Via) -> Option<Format> {
    let chat = |body, several| {
        Some(Format { address: Url::clone, body, several: Some(several), headers: |_, _, _, _| Vec::new() })
    };
    match via {
        Via::Webhook => Some(Format {
            address: Url::clone,
            body: |_, message| webhook::body(message),
            several: None,
            headers: |channel, message, body, now| webhook::headers(&channel.secrets, message, body, now),
        }),
        Via::Crew => Some(Format {
            address: Url::clone,
            body: |_, message| crew::body(message),
            several: None,
            headers: crew::headers,
        }),
        Via::Slack => chat(|_, message| slack::body(message), |_, several| slack::several(several)),
        Via::Teams => chat(|_, message| teams::body(message), |_, several| teams::several(several)),
        Via::Ntfy => chat(ntfy::body, ntfy::several).map(|chat| Format { address: ntfy::server, ..chat }),
        Via::Email | Via::Push => None,
    }
}

/// Returns one request for several messages. Returns `None` if the channel sends each message separately.
pub(crate) fn request_of_several(channel: &Channel, several: Several<'_>) -> Option<Request> {
    let format = format(channel.definition.via)?;
    let body = bytes(&(format.several?)(&channel.url, several));
    let url = (format.address)(&channel.url);
    Some(Request { url, content_type: JSON, body, headers: headers(channel) })
}

/// Returns the request for a message. Returns `None` if the type of channel sends no such requests.
pub(crate) fn request(channel: &Channel, message: &Message, now: Timestamp) -> Option<Request> {
    let format = format(channel.definition.via)?;
    let body = bytes(&(format.body)(&channel.url, message));
    let own = (format.headers)(channel, message, &body, now);
    let headers = headers(channel).into_iter().chain(own).collect();
    Some(Request { url: (format.address)(&channel.url), content_type: JSON, body, headers })
}

/// Returns the request for a checkpoint. Returns `None` if the type of channel sends no checkpoints.
pub(crate) fn request_of_checkpoint(
    channel: &Channel,
    id: &str,
    notice: &CheckpointNotice,
    now: Timestamp,
) -> Option<Request> {
    if channel.definition.via.row().checkpoints != Checkpoints::Any {
        return None;
    }
    let body = bytes(&checkpoint::body(notice));
    let mut headers = headers(channel);
    headers.extend(checkpoint::headers(&channel.secrets, id, notice, &body, now));
    Some(Request { url: channel.url.clone(), content_type: JSON, body, headers })
}

/// Returns the headers of every request of the channel.
fn headers(channel: &Channel) -> Headers {
    let said = channel.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    let token = channel.token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {token}")));
    said.chain(token).collect()
}

/// Serializes the body once. Therefore the signed bytes are also the sent bytes.
fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
