//! Errors as they go out: RFC 9457 `application/problem+json`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::approval::Approval;
use crate::code::Code;
use crate::interrupt::Resolution;

/// An RFC 9457 problem with a stable `code`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "type": "/docs/errors/invalid_request",
    "title": "The request does not fit",
    "status": 422,
    "detail": "unknown field `titel`",
    "code": "invalid_request",
    "errors": [{"pointer": "/titel", "message": "unknown field `titel`; known are: kind, title, message"}]
}))]
pub struct Problem {
    /// The address of the code's page.
    #[serde(rename = "type")]
    pub kind: String,
    /// What the code means; the same for every occurrence.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened here, and what to do.
    pub detail: String,
    pub code: Code,
    /// What is wrong with the body, and where.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// What could have been named instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Of `already_resolved` and `expired`: what stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Of `stale`: the version that the interrupt has now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// Of `approval_used`, `approval_expired` and `approval_differs`: what was approved, and whether it was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Where the server failed (5xx): what its log knows the request by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        Self {
            kind: code.page(),
            title: code.title().to_owned(),
            status: code.status(),
            detail: detail.into(),
            code,
            errors: Vec::new(),
            known: Vec::new(),
            resolution: None,
            version: None,
            approval: None,
            request_id: None,
        }
    }
}

/// One thing that is wrong with a body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// RFC 6901: a place in the body that was sent.
    #[schema(example = "/options/0/id")]
    pub pointer: String,
    pub message: String,
}
