//! Reads and limits the delay that a receiver requests with `Retry-After`.

use std::time::{Duration, UNIX_EPOCH};

use holdshort_core::time::Timestamp;
use holdshort_http::answers;

use crate::limits::RETRY_AFTER;

/// Returns the delay that a receiver requests with the header `Retry-After`, but at most [`RETRY_AFTER`]. Returns
/// `None` if the header is malformed.
pub fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or_default());
    answers::retry_after(header, now).map(|wait| wait.min(RETRY_AFTER))
}
