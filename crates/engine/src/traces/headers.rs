//! HTTP headers that a collector of traces requires, in the format of `OTEL_EXPORTER_OTLP_HEADERS`: `name=value`,
//! separated by commas, with percent-encoded values. A file may contain one header per line.
//!
//! Headers contain credentials. Therefore an error about a malformed header does not show the header.

use percent_encoding::percent_decode_str;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

/// Malformed HTTP header in the settings of the trace collector, with its position counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("header {0} is not `name=value`")]
pub struct Malformed(pub usize);

pub fn headers(text: &str) -> Result<HeaderMap, Malformed> {
    let mut found = HeaderMap::new();
    let parts = text.split(['\n', ',']).map(str::trim).filter(|part| !part.is_empty());
    for (n, part) in (1..).zip(parts) {
        let read = part.split_once('=').and_then(|(name, value)| {
            let name = HeaderName::from_bytes(name.trim().as_bytes()).ok()?;
            let value = percent_decode_str(value.trim()).decode_utf8().ok()?;
            let mut value = HeaderValue::from_str(&value).ok()?;
            value.set_sensitive(true);
            Some((name, value))
        });
        let (name, value) = read.ok_or(Malformed(n))?;
        found.insert(name, value);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_the_variable_and_as_a_file_writes_them() {
        for (text, expected) in [
            ("authorization=Bearer%20abc", &[("authorization", "Bearer abc")][..]),
            ("a=1, b = x=y ,", &[("a", "1"), ("b", "x=y")]),
            (
                "Authorization=Basic dXNlcjpwYXNz\nx-org=7\n",
                &[("authorization", "Basic dXNlcjpwYXNz"), ("x-org", "7")],
            ),
            ("", &[]),
        ] {
            let found = headers(text).unwrap();
            let found: Vec<_> =
                found.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
            assert_eq!(found, expected, "{text}");
        }
        for (text, n) in [("secret", 1), ("a=1,b c=2", 2), ("a=1,b=%0a", 2), ("a=%ff", 1)] {
            assert_eq!(headers(text), Err(Malformed(n)), "{text}");
        }
        let shown = format!("{:?}", headers("authorization=secret").unwrap());
        assert!(!shown.contains("secret"), "{shown}");
    }
}
