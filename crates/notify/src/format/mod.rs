//! A message in the words of each kind of channel: a body, and the headers that belong to it.

mod checkpoint;
mod crew;
mod ntfy;
mod push;
mod slack;
mod teams;
mod webhook;

use holdshort_core::channel::Via;
use holdshort_core::notice::CheckpointNotice;
use holdshort_core::time::Timestamp;
use serde_json::Value;

use crate::channel::Channel;
use crate::message::{Message, Several};
use crate::slack::Call;
pub(crate) use push::Push;

/// Body for clients of the crew edge.
pub use self::crew::body as crew_body;

const JSON: &str = "application/json";

/// What is sent, by POST.
pub(crate) struct Request {
    pub(crate) url: reqwest::Url,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(String, String)>,
}

/// What the bot of an app of Slack is told. `conversation`: where it posts.
pub(crate) fn slack_calls(message: &Message, conversation: &str) -> Vec<Call> {
    slack::calls(message, conversation)
}

pub(crate) fn slack_calls_of_several(several: Several<'_>, conversation: &str) -> Vec<Call> {
    vec![slack::post(slack::several(several), conversation)]
}

/// A text in which Slack reads no format that could do something.
pub(crate) fn slack_text(text: &str) -> String {
    slack::escaped(text)
}

/// What a browser is told.
pub(crate) fn push(message: &Message, now: Timestamp) -> Push {
    push::push(message, now)
}

pub(crate) fn push_of_several(several: Several<'_>, now: Timestamp) -> Push {
    push::several(several, now)
}

/// Several messages as one. A program is told each by itself.
pub(crate) fn request_of_several(channel: &Channel, several: Several<'_>) -> Request {
    let (url, body) = match channel.definition.via {
        Via::Slack => (channel.url.clone(), slack::several(several)),
        Via::Teams => (channel.url.clone(), teams::several(several)),
        Via::Ntfy => ntfy::several(&channel.url, several),
        Via::Webhook | Via::Crew | Via::Email | Via::Push => (channel.url.clone(), Value::Null),
    };
    let body = bytes(&body);
    Request { url, content_type: JSON, body, headers: headers(channel) }
}

pub(crate) fn request(channel: &Channel, message: &Message, now: Timestamp) -> Request {
    let (url, body) = match channel.definition.via {
        Via::Webhook => (channel.url.clone(), webhook::body(message)),
        Via::Slack => (channel.url.clone(), slack::body(message)),
        Via::Teams => (channel.url.clone(), teams::body(message)),
        Via::Crew => (channel.url.clone(), crew::body(message)),
        Via::Ntfy => ntfy::body(&channel.url, message),
        // A mail is no request, and what a browser is told is encrypted: `mail/` and `push.rs` make these.
        Via::Email | Via::Push => (channel.url.clone(), Value::Null),
    };
    let body = bytes(&body);
    let mut headers = headers(channel);
    match channel.definition.via {
        Via::Webhook => headers.extend(webhook::headers(&channel.secrets, message, &body, now)),
        Via::Crew => headers.extend(crew::headers(channel, message, &body, now)),
        Via::Slack | Via::Teams | Via::Ntfy | Via::Email | Via::Push => {}
    }
    Request { url, content_type: JSON, body, headers }
}

/// `None`: a channel of this kind is told of none.
pub(crate) fn request_of_checkpoint(
    channel: &Channel,
    id: &str,
    notice: &CheckpointNotice,
    now: Timestamp,
) -> Option<Request> {
    match channel.definition.via {
        Via::Webhook => {}
        Via::Slack | Via::Teams | Via::Ntfy | Via::Email | Via::Crew | Via::Push => return None,
    }
    let body = bytes(&checkpoint::body(notice));
    let mut headers = headers(channel);
    headers.extend(checkpoint::headers(&channel.secrets, id, notice, &body, now));
    Some(Request { url: channel.url.clone(), content_type: JSON, body, headers })
}

/// Those that are the same for everything that is sent.
fn headers(channel: &Channel) -> Vec<(String, String)> {
    let said = channel.headers.iter().map(|(name, value)| (name.clone(), value.clone()));
    let token = channel.token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {token}")));
    said.chain(token).collect()
}

/// Signed as they are sent: nothing encodes them again.
fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
