//! The trace that a request is a part of, which a run that it begins joins (W3C Trace Context).

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_core::trace_parent::TraceParent;

const HEADER: &str = "traceparent";

/// `None` where the request names none that can be joined: it is served all the same, as the standard wants it.
pub struct Joined(pub Option<TraceParent>);

impl<S: Send + Sync> FromRequestParts<S> for Joined {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let mut values = parts.headers.get_all(HEADER).iter();
        let (first, second) = (values.next(), values.next());
        let one = first.filter(|_| second.is_none()).and_then(|value| value.to_str().ok());
        Ok(Self(one.and_then(|text| TraceParent::read(text.trim()))))
    }
}
