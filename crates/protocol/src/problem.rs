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
    /// Relative URL of the documentation page of the code.
    #[serde(rename = "type")]
    pub kind: String,
    /// Meaning of the code. All problems with the same code have the same title.
    pub title: String,
    /// HTTP status.
    pub status: u16,
    /// Explanation of this problem, and what the caller can do.
    pub detail: String,
    pub code: Code,
    /// Errors in the request body, each with its JSON pointer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<FieldError>,
    /// Valid values. Present if the server does not know a value in the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<String>,
    /// Resolution of the interrupt. Present for `already_resolved` and `expired`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<Resolution>,
    /// Current version of the interrupt. Present for `stale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The approval, with the record of its use. Present for `approval_used`, `approval_expired` and
    /// `approval_differs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Id of the request in the server's log. Present for a server error (5xx).
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
    /// JSON pointer (RFC 6901) into the request body.
    #[schema(example = "/options/0/id")]
    pub pointer: String,
    pub message: String,
}
