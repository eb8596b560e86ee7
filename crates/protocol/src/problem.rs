//! Error responses: RFC 9457 `application/problem+json`.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::approval::Approval;
use crate::code::Code;
use crate::interrupt::Resolution;

/// An RFC 9457 problem with a stable `code`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "type": "/docs/errors/invalid_request",
    "title": "The request is invalid",
    "status": 422,
    "detail": "unknown field `titel`",
    "code": "invalid_request",
    "errors": [{"pointer": "/titel", "message": "unknown field `titel`; known are: kind, title, message"}]
}))]
pub struct Problem {
    /// Relative address of the code's documentation page.
    #[serde(rename = "type")]
    pub kind: String,
    /// Meaning of the code, equal for every occurrence.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Explanation of this occurrence, and what to do.
    pub detail: String,
    pub code: Code,
    /// Errors in the request body, each with its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// Valid values for the one that was sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Current resolution of the interrupt. Present for `already_resolved` and `expired`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Current version of the interrupt. Present for `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The approval and its use. Present for `approval_used`, `approval_expired` and `approval_differs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Id of the request in the server's log. Present if the server failed (5xx).
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

/// One error in a request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer (RFC 6901) into the body that was sent.
    #[schema(example = "/options/0/id")]
    pub pointer: String,
    pub message: String,
}
