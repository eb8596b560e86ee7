//! The trace that a request belongs to (W3C Trace Context). If the request starts a run, the run becomes part of this
//! trace.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_core::trace_parent::TraceParent;

const HEADER: &str = "traceparent";

/// Trace to which a request belongs. `None` if the header of the trace is missing, or if it is invalid: the standard
/// requires that an invalid header is ignored.
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
