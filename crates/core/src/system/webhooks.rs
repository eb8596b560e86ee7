//! Webhooks registered over the API: channels in addition to those of the channels file (contract D4).
//!
//! The journal contains a webhook's existence, kind and host. Its URL, secret and headers may grant access elsewhere,
//! so no event contains them. They are in a file of the data folder, or in the database of several nodes.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Protocol of the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookKind {
    /// A client of the crew edge.
    CustomUrl,
    Slack,
    /// One address, over the mail server of the channels file.
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

/// One webhook, as recorded in the journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub name: String,
    pub kind: WebhookKind,
    /// Non-secret part of its address.
    pub host: String,
    /// True if the webhook receives deliveries.
    pub active: bool,
}

/// Registered webhook, with its creator and the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    pub is: Webhook,
    pub by: String,
    pub at: Timestamp,
}
