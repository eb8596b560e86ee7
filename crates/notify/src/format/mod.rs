//! A message in the words of each kind of channel: a body, and the headers that belong to it.

mod crew;
mod ntfy;
mod slack;
mod teams;
mod webhook;

use holdshort_core::channel::Via;
use holdshort_core::time::Timestamp;
use serde_json::Value;

use crate::channel::Channel;
use crate::message::Message;

/// What is sent: always JSON, by POST.
pub(crate) struct Request {
    pub(crate) url: reqwest::Url,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(String, String)>,
}

pub(crate) fn request(channel: &Channel, message: &Message, now: Timestamp) -> Request {
    let (url, body) = match channel.definition.via {
        Via::Webhook => (channel.url.clone(), webhook::body(message)),
        Via::Slack => (channel.url.clone(), slack::body(message)),
        Via::Teams => (channel.url.clone(), teams::body(message)),
        Via::Crew => (channel.url.clone(), crew::body(message)),
        Via::Ntfy => ntfy::body(&channel.url, message),
    };
    let body = bytes(&body);
    let own = channel.definition.headers.iter().chain(&channel.headers);
    let mut headers: Vec<(String, String)> = own.map(|(name, value)| (name.clone(), value.clone())).collect();
    match channel.definition.via {
        Via::Webhook => headers.extend(webhook::headers(&channel.secrets, message, &body, now)),
        Via::Crew => headers.extend(crew::headers(channel, message, &body, now)),
        Via::Ntfy => {
            headers.extend(
                channel.token.iter().map(|token| ("Authorization".to_owned(), format!("Bearer {token}"))),
            );
        }
        Via::Slack | Via::Teams => {}
    }
    Request { url, body, headers }
}

/// Signed as they are sent: nothing encodes them again.
fn bytes(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}
