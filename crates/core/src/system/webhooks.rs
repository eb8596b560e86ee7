//! Webhooks that somebody registered over the API: channels beside those of the channels file (contract D4).
//!
//! The journal says that one is there, what it is and which host it is at. Its URL, its secret and its headers may let somebody
//! in elsewhere: they lie in a file of the data folder, or in the database of several nodes, and in no event.

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// What is spoken at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WebhookKind {
    /// A client of the crew edge.
    CustomUrl,
    Slack,
    /// One address, over the server of mails of the channels file.
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

/// One webhook, as the journal knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    pub name: String,
    pub kind: WebhookKind,
    /// Where it is, as far as that is no secret.
    pub host: String,
    /// Nothing is written for one that is not.
    pub active: bool,
}

/// With who registered it, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    pub is: Webhook,
    pub by: String,
    pub at: Timestamp,
}
