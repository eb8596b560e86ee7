//! Builds the HTTP request (body and headers) with which a channel sends a message. The format depends on the type of
//! the channel.

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

/// Returns the request body for clients of the crew edge.
pub use self::crew::body as crew_body;

const JSON: &str = "application/json";

/// POST request with which a channel delivers a message.
pub(crate) struct Request {
    pub(crate) url: Url,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Headers,
}

/// Returns the API calls that a Slack bot makes to send a message. `conversation` is the id of the Slack conversation
/// to which the message is posted.
pub(crate) fn slack_calls(message: &Message, conversation: &str) -> Vec<Call> {
    slack::calls(message, conversation)
}

pub(crate) fn slack_calls_of_several(several: Several<'_>, conversation: &str) -> Vec<Call> {
    vec![slack::post(slack::several(several), conversation)]
}

/// Escapes a text for Slack, so that Slack shows the text without interpreting formatting.
pub(crate) fn slack_text(text: &str) -> String {
    slack::escaped(text)
}

/// Returns the push message that shows this notification in a browser.
pub(crate) fn push(message: &Message, now: Timestamp) -> Push {
    push::push(message, now)
}

pub(crate) fn push_of_several(several: Several<'_>, now: Timestamp) -> Push {
    push::several(several, now)
}

type Headers = Vec<(String, String)>;

/// Functions that build the HTTP requests that send notifications through one type of channel (Slack, ntfy, …).
struct Format {
    /// Returns the URL to which a channel of this type sends the request. The argument is the URL of the channel.
    address: fn(&Url) -> Url,
    body: fn(&Url, &Message) -> Value,
    /// Returns one request body for several messages. `None` for types of channels to programs, which get each message
    /// separately.
    several: Option<fn(&Url, Several<'_>) -> Value>,
    headers: fn(&Channel, &Message, &[u8], Timestamp) -> Headers,
}

/// Returns the functions that build requests for a type of channel. Returns `None` for mail and push, whose messages
/// `mail/` and `push.rs` build.
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

/// Returns one request that sends several messages over the channel. Returns `None` if a channel of this type sends
/// each message separately.
pub(crate) fn request_of_several(channel: &Channel, several: Several<'_>) -> Option<Request> {
    let format = format(channel.definition.via)?;
    let body = bytes(&(format.several?)(&channel.url, several));
    let url = (format.address)(&channel.url);
    Some(Request { url, content_type: JSON, body, headers: headers(channel) })
}

/// Returns the request that sends a message over the channel. Returns `None` for mail and push channels, which do not
/// use such requests.
pub(crate) fn request(channel: &Channel, message: &Message, now: Timestamp) -> Option<Request> {
    let format = format(channel.definition.via)?;
    let body = bytes(&(format.body)(&channel.url, message));
    let own = (format.headers)(channel, message, &body, now);
    let headers = headers(channel).into_iter().chain(own).collect();
    Some(Request { url: (format.address)(&channel.url), content_type: JSON, body, headers })
}

/// Returns the request that sends a checkpoint of the journal over the channel. Returns `None` if channels of this type
/// do not send checkpoints.
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

fn headers(channel: &Channel) -> Headers {
    let said = channel.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    let token = channel.token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {token}")));
    said.chain(token).collect()
}

/// Serializes the body of a request once, so that the signed bytes are exactly the bytes that are sent.
fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
