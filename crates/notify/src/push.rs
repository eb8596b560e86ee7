//! Web Push: sends messages to single browsers of people (RFC 8030, RFC 8291). `vapid.rs` contains the signing key, and
//! `format/push.rs` builds the message.
//!
//! The endpoint and the keys of a browser are secrets, which are never displayed and in no error.

use std::fmt;
use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use holdshort_core::digest::Digest;
use holdshort_core::limits::URL_CHARS;
use holdshort_core::time::Timestamp;
use reqwest::Url;

use crate::channel::Channel;
use crate::format::{Push, Request};
use crate::limits::PUSH_AUTH_BYTES;
use crate::message::Reader;
use crate::seal::Point;
use crate::send::{Sent, Verdict};
use crate::vapid::Vapid;

/// A browser with a valid push subscription.
#[derive(Clone)]
pub struct Browser {
    endpoint: Url,
    key: Point,
    auth: [u8; PUSH_AUTH_BYTES],
    vapid: Arc<Vapid>,
}

/// Error in a browser's push subscription. The error message contains no part of the subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadBrowser {
    #[error("{0}")]
    Endpoint(&'static str),
    #[error("must be a point of the curve P-256, encoded in base64url without padding")]
    P256dh,
    #[error("must be {PUSH_AUTH_BYTES} bytes long, encoded in base64url without padding")]
    Auth,
}

impl BadBrowser {
    /// Returns the JSON pointer to the invalid field of the push subscription.
    pub fn pointer(self) -> &'static str {
        match self {
            Self::Endpoint(_) => "/endpoint",
            Self::P256dh => "/p256dh",
            Self::Auth => "/auth",
        }
    }
}

impl Browser {
    /// Parses the endpoint and the keys of a browser's push subscription.
    pub fn open(endpoint: &str, p256dh: &str, auth: &str, vapid: Arc<Vapid>) -> Result<Self, BadBrowser> {
        let endpoint = url(endpoint).map_err(BadBrowser::Endpoint)?;
        let bytes = |text: &str| BASE64URL_NOPAD.decode(text.as_bytes()).ok();
        let key = bytes(p256dh).and_then(|bytes| Point::from_bytes(&bytes));
        let auth = bytes(auth).and_then(|bytes| bytes.try_into().ok());
        Ok(Self { endpoint, key: key.ok_or(BadBrowser::P256dh)?, auth: auth.ok_or(BadBrowser::Auth)?, vapid })
    }

    /// Returns the host of the browser's push service.
    pub fn host(&self) -> &str {
        self.endpoint.host_str().unwrap_or_default()
    }

    /// Returns true if the push endpoint of the browser uses unencrypted HTTP. Other people on the network can then
    /// read the endpoint.
    pub fn is_plain(&self) -> bool {
        self.endpoint.scheme() == "http"
    }
}

fn url(text: &str) -> Result<Url, &'static str> {
    if text.len() > URL_CHARS {
        return Err("is too long");
    }
    let url = Url::parse(text).map_err(|_| "is not a URL such as `https://push.example.org/abc`")?;
    if !["https", "http"].contains(&url.scheme()) || !url.has_host() {
        return Err("is not an `https:` URL of a push service");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("contains a user name or password");
    }
    Ok(url)
}

impl fmt::Debug for Browser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Browser").field("host", &self.host()).finish_non_exhaustive()
    }
}

impl PartialEq for Browser {
    fn eq(&self, other: &Self) -> bool {
        (&self.endpoint, &self.key, self.auth) == (&other.endpoint, &other.key, other.auth)
    }
}

impl Eq for Browser {}

impl Channel {
    /// Returns true if the channel may send push messages to the browser. An unencrypted endpoint requires that the
    /// channel lists networks in `allow`.
    pub fn accepts_browser(&self, browser: &Browser) -> bool {
        !(browser.is_plain() && self.definition.allow.is_empty())
    }

    pub(crate) async fn push(&self, push: Push, reader: Option<&Reader>, now: Timestamp) -> Sent {
        let browser = reader.and_then(|reader| reader.browser.as_ref());
        let Some(browser) = browser else {
            return unsent("the notification has no browser as its recipient");
        };
        if !self.accepts_browser(browser) {
            return unsent(
                "the endpoint begins with `http:`, which is only allowed in networks that `allow` names",
            );
        }
        let contact = self.url.as_str();
        let Some(authorization) = browser.vapid.authorization(&browser.endpoint, contact, now) else {
            return unsent("the notification cannot be signed");
        };
        let Ok(body) = browser.key.seal(&browser.auth, push.payload.to_string().into_bytes()) else {
            return unsent("the notification cannot be encrypted");
        };
        let topic = push.topic.map(|topic| ("Topic", topic));
        let headers = [
            ("Authorization", authorization),
            ("Content-Encoding", "aes128gcm".to_owned()),
            ("TTL", push.ttl_seconds.to_string()),
            ("Urgency", push.urgency.to_owned()),
        ];
        let headers =
            headers.into_iter().chain(topic).map(|(name, value)| (name.to_owned(), value)).collect();
        let content_type = "application/octet-stream";
        let sent =
            self.request(Request { url: browser.endpoint.clone(), content_type, body, headers }, now).await;
        // The response of a push service may contain the endpoint, which is a secret. Therefore the response is not
        // stored.
        let sent = Sent { answer: None, ..sent };
        match sent.status {
            // The subscription has expired, or the person has ended it (RFC 8030, 7.3).
            Some(404 | 410) => Sent {
                verdict: Verdict::Left,
                error: Some(
                    "the browser of the recipient is no longer subscribed to notifications".to_owned(),
                ),
                ..sent
            },
            _ => sent,
        }
    }
}

fn unsent(why: &str) -> Sent {
    let digest = Digest::of_bytes(b"").to_string();
    Sent { verdict: Verdict::Refused, status: None, error: Some(why.to_owned()), digest, answer: None }
}
