//! Browsers that receive Web Push notifications (RFC 8030).
//!
//! Anyone who knows the endpoint of a browser can send notifications to it. The keys of the browser are used to encrypt
//! notifications. Endpoint and keys are therefore stored outside the journal. The journal contains the host of the push
//! service, and a digest by which endpoints can be told apart. When a person leaves or signs out from all browsers, all
//! subscriptions of the person end.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Timestamp;

/// Subscription of one browser, as the journal records it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// Id of the person who receives the notifications.
    pub person: String,
    /// Host of the push service of the browser.
    pub host: String,
    /// SHA-256 of the browser's push endpoint. The endpoint itself is a secret.
    pub endpoint: Digest,
}

/// Subscription of a browser, with the time at which it started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribed {
    pub is: Subscription,
    pub at: Timestamp,
}
