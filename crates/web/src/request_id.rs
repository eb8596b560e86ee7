//! The id of a request. The id is in the header `X-Request-Id` of the response, and in each log line about the request.
//!
//! A caller may send the id in the request, for example a proxy that has created one. While the request is served, its
//! id is stored in a task-local variable, so that an error response (`problem.rs`) can contain it.

use std::fmt;
use std::future::Future;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use data_encoding::HEXLOWER;

use crate::limits::REQUEST_ID_CHARS;

pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

tokio::task_local! {
    static CURRENT: RequestId;
}

/// Random part of all request ids, which differs for each start of a server process.
static PROCESS: LazyLock<String> = LazyLock::new(|| {
    let mut drawn = [0; 6];
    // If the random source fails, this part is constant. Ids are then unique only within this process. Only logs are
    // affected.
    let _ = getrandom::fill(&mut drawn);
    HEXLOWER.encode(&drawn)
});
static COUNT: AtomicU64 = AtomicU64::new(0);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// Returns the request id that the caller sent, if there is exactly one and it is safe to write into a log. If the
    /// caller's id is missing or unsafe, returns a new id.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let mut values = headers.get_all(HEADER).iter();
        let (first, second) = (values.next(), values.next());
        let own = first.filter(|_| second.is_none()).and_then(|value| value.to_str().ok());
        match own.filter(|id| is_fit(id)) {
            Some(id) => Self(id.into()),
            None => Self::new(),
        }
    }

    fn new() -> Self {
        let count = COUNT.fetch_add(1, Ordering::Relaxed) + 1;
        Self(format!("{}-{count}", *PROCESS).into())
    }

    /// Returns the request id as a header value of the response.
    pub(crate) fn value(&self) -> Option<HeaderValue> {
        // Every id that is safe in a log is also valid in a header.
        HeaderValue::from_str(&self.0).ok()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_fit(id: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=REQUEST_ID_CHARS).contains(&id.len()) && id.bytes().all(fits)
}

/// Serves a request with this request id.
pub(crate) fn serving<F: Future>(id: RequestId, request: F) -> impl Future<Output = F::Output> {
    CURRENT.scope(id, request)
}

/// Returns the id of the request that the current task serves.
pub(crate) fn current() -> Option<RequestId> {
    CURRENT.try_with(Clone::clone).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_from_headers(values: &[&str]) -> String {
        let values = values.iter().map(|value| (HEADER, HeaderValue::from_str(value).unwrap()));
        RequestId::from_headers(&values.collect()).to_string()
    }

    #[test]
    fn a_callers_own_counts_where_it_is_one_and_fit_for_a_log() {
        let longest = "x".repeat(REQUEST_ID_CHARS);
        for id in ["a", "0b2e7c.A_z-9", &longest] {
            assert_eq!(id_from_headers(&[id]), id);
        }
        let too_long = format!("{longest}x");
        for ids in [&[][..], &[""], &["a b"], &["a\"b"], &["a/b"], &["a\u{e9}"], &[&*too_long], &["a", "a"]] {
            let made = id_from_headers(ids);
            assert!(is_fit(&made) && made.starts_with(&*PROCESS), "{ids:?}: {made}");
        }
        assert_ne!(id_from_headers(&[]), id_from_headers(&[]));
    }
}
