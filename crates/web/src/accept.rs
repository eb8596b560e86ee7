//! The headers `Accept` and `Accept-Encoding` (RFC 9110, 12.5). They decide whether a response is HTML or data, and
//! whether it is compressed.

use axum::http::HeaderMap;
use axum::http::header::{ACCEPT, ACCEPT_ENCODING, HeaderName};

/// Media types of data that programs read.
const DATA: [&str; 5] =
    ["application/json", "application/problem+json", "text/markdown", "text/plain", "text/event-stream"];

/// Returns true if the header `Accept` gives HTML a greater weight than every type of data. Browsers do this when they
/// load a page.
pub fn prefers_html(headers: &HeaderMap) -> bool {
    let html = weight(headers, &ACCEPT, "text/html");
    html > 0.0 && DATA.iter().all(|data| weight(headers, &ACCEPT, data) < html)
}

pub fn takes_gzip(headers: &HeaderMap) -> bool {
    weight(headers, &ACCEPT_ENCODING, "gzip") > 0.0
}

/// Returns the weight that a header such as `Accept` gives to `value`. Returns 0 if the header does not contain `value`
/// literally.
fn weight(headers: &HeaderMap, name: &HeaderName, value: &str) -> f32 {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    let weights = lines.flat_map(|line| line.split(',')).filter_map(|item| {
        let (named, parameters) = item.split_once(';').unwrap_or((item, ""));
        let q = parameters.split(';').find_map(|parameter| parameter.trim().strip_prefix("q="));
        let weight = q.map_or(Some(1.0), |q| q.trim().parse().ok());
        weight.filter(|_| named.trim().eq_ignore_ascii_case(value))
    });
    weights.fold(0.0, f32::max)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn browsers_get_pages_and_programs_get_data() {
        let table = [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("TEXT/HTML", true),
            ("text/html;q=0.8, application/json;q=0.7", true),
            ("*/*", false),
            ("", false),
            ("application/json", false),
            ("text/markdown, text/html, */*", false),
            ("text/html;q=0", false),
            ("text/html;q=no", false),
            ("application/json, text/html;q=0.9", false),
        ];
        for (accept, expected) in table {
            assert_eq!(prefers_html(&headers(ACCEPT, accept)), expected, "{accept}");
        }
        assert!(!prefers_html(&HeaderMap::new()));
    }

    #[test]
    fn gzip_is_asked_for_by_name() {
        let table =
            [("gzip, deflate, br", true), ("br;q=1, gzip;q=0.5", true), ("gzip;q=0", false), ("*", false)];
        for (accept, expected) in table {
            assert_eq!(takes_gzip(&headers(ACCEPT_ENCODING, accept)), expected, "{accept}");
        }
    }
}
