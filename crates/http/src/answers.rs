//! Interprets `Retry-After` headers, and finds the cause of a failed request.

use std::error::Error;
use std::io;
use std::time::{Duration, SystemTime};

/// Returns the delay that a `Retry-After` header requests: a number of seconds, possibly with a fraction, or an HTTP
/// date (RFC 9110, 10.2.3). Returns `None` for any other value. A number that is too large becomes [`Duration::MAX`],
/// so the caller must limit the delay.
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

/// Returns the innermost cause of a failed HTTP request. The outer errors contain the URL, which may contain a secret.
pub fn innermost(error: &reqwest::Error) -> String {
    let mut why = "the request failed".to_owned();
    let mut source = error.source();
    while let Some(error) = source {
        why = error.to_string();
        source = error.source();
    }
    why
}

/// Returns what is wrong with the server's TLS certificate, if the request failed because of the certificate.
pub fn refused_certificate(error: &reqwest::Error) -> Option<String> {
    let mut source: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = source {
        if let Some(refused @ rustls::Error::InvalidCertificate(_)) = error.downcast_ref::<rustls::Error>() {
            return Some(refused.to_string());
        }
        // `io::Error::source` skips the wrapped error, so the wrapped error is read with `get_ref`.
        source = match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
            Some(held) => Some(held),
            None => error.source(),
        };
    }
    None
}
