//! `Retry-After` in both of its forms (RFC 9110, 10.2.3).

use std::time::{Duration, UNIX_EPOCH};

use holdshort_core::time::Timestamp;

use crate::limits::RETRY_AFTER;

/// How long a receiver asks to be left alone, at most [`RETRY_AFTER`]; `None`: it does not say so in a way that is known.
pub fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    let wait = if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        // More digits than fit are longer than anything that is waited for.
        header.parse().map_or(RETRY_AFTER, Duration::from_secs)
    } else {
        let at = httpdate::parse_http_date(header).ok()?.duration_since(UNIX_EPOCH).ok()?;
        let now = Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or_default());
        at.saturating_sub(now)
    };
    Some(wait.min(RETRY_AFTER))
}
