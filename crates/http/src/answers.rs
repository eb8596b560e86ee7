//! What an answer says of when to come back, and what an error says of why there was none.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

/// How long a `Retry-After` asks to wait: seconds, of which some send a part, or an HTTP date (RFC 9110, 10.2.3). `None`:
/// it is neither. More than fits is without end; whoever waits has a limit.
pub fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if value.starts_with(|char: char| char.is_ascii_digit())
        && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        let seconds: f64 = value.parse().ok()?;
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    Some(at.duration_since(now).unwrap_or_default())
}

/// Why a request had no answer: the innermost cause. The outer layers repeat the address, which may hold a secret.
pub fn innermost(error: &reqwest::Error) -> String {
    let mut why = "the request failed".to_owned();
    let mut source = error.source();
    while let Some(error) = source {
        why = error.to_string();
        source = error.source();
    }
    why
}

/// What is wrong with the certificate that a server shows, where that is why a request had no answer.
pub fn refused_certificate(error: &reqwest::Error) -> Option<String> {
    let mut source: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = source {
        if let Some(refused @ rustls::Error::InvalidCertificate(_)) = error.downcast_ref::<rustls::Error>() {
            return Some(refused.to_string());
        }
        // Of an error of I/O the source is that of what it holds, not what it holds.
        source = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    None
}
