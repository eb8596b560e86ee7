//! Browsers that tell their person by Web Push (RFC 8030): which there are.
//!
//! Whoever has the endpoint of a browser may try to reach it, and its keys encrypt for it: both lie outside of the journal,
//! which has the host of the push service, and a digest that tells one endpoint from another. Whoever leaves, or signs out
//! everywhere, is told in none of theirs any more.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::time::Timestamp;

/// One browser, as the journal knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subscription {
    /// Whom it tells, by id.
    pub person: String,
    /// Of its push service.
    pub host: String,
    /// SHA-256 of its endpoint. An endpoint is a secret that nobody can guess.
    pub endpoint: Digest,
}

/// With the moment since which it tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subscribed {
    pub is: Subscription,
    pub at: Timestamp,
}
