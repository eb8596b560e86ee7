//! The trace that a request is part of (W3C Trace Context). A run that the request starts becomes part of the same
//! trace.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_core::trace_parent::TraceParent;

const HEADER: &str = "traceparent";

/// Trace of a request. `None` if the header is missing or invalid. The standard requires that a request with an
/// invalid trace is served as if it had none.
pub struct JoinedTrace(pub Option<TraceParent>);

impl<S: Send + Sync> FromRequestParts<S> for JoinedTrace {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let mut values = parts.headers.get_all(HEADER).iter();
        let (first, second) = (values.next(), values.next());
        let one = first.filter(|_| second.is_none()).and_then(|value| value.to_str().ok());
        Ok(Self(one.and_then(|text| TraceParent::read(text.trim()))))
    }
}
