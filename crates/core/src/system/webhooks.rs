//! Webhooks that were registered through the API. Such webhooks are channels in addition to those in the channels file
//! (contract D4).
//!
//! The journal records that a webhook exists, its kind, and its host. Events never contain the URL, the secret or the
//! headers. These values could give access to the receiver. URL, secret and headers are stored in a file of the data
//! folder or, if several nodes share a database, in the database.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Protocol that the receiver of a webhook understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookKind {
    /// The receiver is a client that speaks the crew protocol.
    CustomUrl,
    Slack,
    /// The receiver is one e-mail address. The mail server of the channels file delivers the e-mails.
    Email,
    Teams,
}

impl WebhookKind {
    pub const ALL: [Self; 4] = [Self::CustomUrl, Self::Slack, Self::Email, Self::Teams];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CustomUrl => "custom_url",
            Self::Slack => "slack",
            Self::Email => "email",
            Self::Teams => "teams",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// One webhook, as the journal records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub name: String,
    pub kind: WebhookKind,
    /// Part of the webhook's address that is not secret.
    pub host: String,
    /// True if notifications are sent to the webhook.
    pub active: bool,
}

/// Registered webhook, with the person who registered it and the time of registration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    pub is: Webhook,
    pub by: String,
    pub at: Timestamp,
}
