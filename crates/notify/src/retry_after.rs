//! How long a receiver may ask to be left alone.

use std::time::{Duration, UNIX_EPOCH};

use holdshort_core::time::Timestamp;
use holdshort_http::answers;

use crate::limits::RETRY_AFTER;

/// What a `Retry-After` asks for, at most [`RETRY_AFTER`]; `None`: it does not say so in a way that is known.
pub fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or_default());
    answers::retry_after(header, now).map(|wait| wait.min(RETRY_AFTER))
}
