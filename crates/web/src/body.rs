//! Request bodies. Checks a request body in this order: its size, its media type, its JSON syntax, its type. Each of
//! these checks has an error of its own.
//!
//! Most handlers look up the object in the path before they read the body. They report a missing object with 404, even
//! if the body is invalid.

use std::error::Error as _;

use axum::body::{Body as RawBody, Bytes};
use axum::extract::{FromRequest, Request};
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use futures::StreamExt;
use holdshort_core::json;
use holdshort_core::strict::Strict;
use holdshort_protocol::Code;
use holdshort_protocol::pointer::escape;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

use crate::limits::{BODY_BYTES, BODY_TIME, DRAINED_BYTES};
use crate::problem::{Answer, Refused};

/// Request body that was not read yet.
pub struct Body {
    headers: HeaderMap,
    raw: RawBody,
}

impl<S: Send + Sync> FromRequest<S> for Body {
    type Rejection = Refused;

    async fn from_request(request: Request, _: &S) -> Answer<Self> {
        let (parts, raw) = request.into_parts();
        Ok(Self { headers: parts.headers, raw })
    }
}

impl Body {
    /// Reads the request body as JSON, and rejects ambiguous JSON such as duplicate members.
    pub async fn value(self) -> Answer<Value> {
        self.optional().await?.ok_or_else(|| Refused::new(Code::MalformedJson, "the body is empty"))
    }

    /// Like [`Body::value`], but returns `None` for an empty request body.
    pub async fn optional(self) -> Answer<Option<Value>> {
        let is_json = is(&self.headers, "application/json");
        let bytes = self.bytes().await?;
        if bytes.is_empty() {
            return Ok(None);
        }
        if !is_json {
            return Err(Refused::from_code(Code::UnsupportedMediaType));
        }
        json::parse(&bytes).map(Some).map_err(|error| Refused::new(Code::MalformedJson, error.to_string()))
    }

    /// Reads the request body as JSON of the type `T`.
    pub async fn json<T: DeserializeOwned>(self) -> Answer<T> {
        read_strict(&self.value().await?)
    }

    /// Reads the request body as the fields of a submitted form. Fields that `T` does not define are rejected.
    pub async fn form<T: DeserializeOwned>(self) -> Answer<T> {
        let is_form = is(&self.headers, "application/x-www-form-urlencoded");
        let bytes = self.bytes().await?;
        if !is_form {
            let rule = "Send a form: `Content-Type: application/x-www-form-urlencoded`.";
            return Err(Refused::new(Code::UnsupportedMediaType, rule));
        }
        serde_urlencoded::from_bytes(&bytes).map_err(|error| Refused::invalid_at("", error.to_string()))
    }

    /// Reads the request body without parsing it.
    pub async fn bytes(self) -> Answer<Bytes> {
        if declared(&self.headers).is_some_and(|length| length > BODY_BYTES as u64) {
            // A client that sent the header `Expect` waits for the response `100 Continue` before it sends the body.
            if !self.headers.contains_key(EXPECT) {
                drain(self.raw).await;
            }
            return Err(Refused::from_code(Code::BodyTooLarge));
        }
        let mut read = 0;
        let mut over = false;
        let mut bytes = Vec::new();
        let mut chunks = self.raw.into_data_stream();
        let reading = async {
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.map_err(|error| {
                    tracing::debug!(error = ?error.source(), "a request body ended early");
                    Refused::new(Code::MalformedJson, "the connection ended before the body was complete")
                })?;
                read += chunk.len();
                over |= read > BODY_BYTES;
                if read > DRAINED_BYTES {
                    break;
                }
                if over {
                    bytes = Vec::new();
                } else {
                    bytes.extend_from_slice(&chunk);
                }
            }
            Ok(())
        };
        match tokio::time::timeout(BODY_TIME, reading).await {
            Err(_) => Err(Refused::from_code(Code::RequestTimeout)),
            Ok(Err(refused)) => Err(refused),
            Ok(Ok(())) if over => Err(Refused::from_code(Code::BodyTooLarge)),
            Ok(Ok(())) => Ok(bytes.into()),
        }
    }
}

/// Reads the rest of a request body and discards it. If the server closed the connection while the client is still
/// sending, the client would not receive the response.
async fn drain(raw: RawBody) {
    let mut read = 0;
    let mut chunks = raw.into_data_stream();
    let reading = async {
        while let Some(Ok(chunk)) = chunks.next().await {
            read += chunk.len();
            if read > DRAINED_BYTES {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(BODY_TIME, reading).await;
}

fn declared(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is(headers: &HeaderMap, media_type: &str) -> bool {
    let Some(Ok(value)) = headers.get(CONTENT_TYPE).map(|value| value.to_str()) else { return false };
    let essence = value.split(';').next().unwrap_or_default();
    essence.trim().eq_ignore_ascii_case(media_type)
}

/// Converts a JSON value of a request to the type `T`. The error contains the JSON pointer of the invalid value.
pub fn read_strict<T: DeserializeOwned>(value: &Value) -> Answer<T> {
    serde_path_to_error::deserialize(Strict(value)).map_err(|error| {
        let mut pointer = pointer(error.path());
        let message = error.inner().to_string();
        // The error of a missing field contains only the path of the object that should contain the field.
        if let Some(field) = message.strip_prefix("missing field `").and_then(|rest| rest.strip_suffix('`')) {
            pointer.push('/');
            pointer.push_str(&escape(field));
        }
        Refused::invalid_at(&pointer, message)
    })
}

fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path {
        match segment {
            Segment::Seq { index } => {
                pointer.push('/');
                pointer.push_str(&index.to_string());
            }
            Segment::Map { key } => {
                pointer.push('/');
                pointer.push_str(&escape(key));
            }
            Segment::Enum { .. } | Segment::Unknown => {}
        }
    }
    pointer
}

#[cfg(test)]
mod tests {
    use holdshort_protocol::{Ask, StartRun};
    use serde_json::json;

    use super::*;

    fn refused<T: DeserializeOwned>(value: &Value) -> Vec<(String, String)> {
        let problem = read_strict::<T>(value).err().map(|refused| refused.0);
        let errors = problem.map(|problem| problem.errors).unwrap_or_default();
        errors.into_iter().map(|error| (error.pointer, error.message)).collect()
    }

    #[test]
    fn what_does_not_fit_is_named_by_its_pointer() {
        let table = [
            (json!({"input": {}}), "/workflow", "missing field `workflow`"),
            (
                json!({"workflow": "w", "a/b~`": 1}),
                "/a~1b~0`",
                "unknown field `a/b~``, expected one of `workflow`, `input`, `session`, `config`",
            ),
            (json!({"workflow": 5}), "/workflow", "a text is expected, not 5"),
            (
                json!({"workflow": "w", "config": {"gates": {"rules": [{"do": "permit"}]}}}),
                "/config/gates/rules/0/do",
                "unknown variant `permit`, expected one of `allow`, `ask`, `forbid`",
            ),
            (
                json!({"workflow": "w", "config": {"gates": {"plans": "ask"}}}),
                "/config/gates/plans",
                "unknown field `plans`, expected one of `rules`, `mandatory`, `smart`, `plan`, `before_step`, `after_step`, `on_error`",
            ),
            (json!(["pair", {}]), "", "an object is expected, not a list"),
            (json!({"workflow": "w", "config": ["/ws"]}), "/config", "an object is expected, not a list"),
            (
                json!({"workflow": "w", "config": {"gates": {"rules": [["x"]]}}}),
                "/config/gates/rules/0",
                "an object is expected, not a list",
            ),
            (
                json!({"workflow": "w", "config": {"gates": {"smart": "on"}}}),
                "/config/gates/smart",
                "an object is expected, not a text",
            ),
            (
                json!({"workflow": "w", "config": {"gates": {"plan": {"ask": null}}}}),
                "/config/gates/plan",
                "a text is expected, not an object",
            ),
            (
                json!({"workflow": "w", "config": {"gates": {"rules": {"0": 1}}}}),
                "/config/gates/rules",
                "a list is expected, not an object",
            ),
            (
                json!({"workflow": "w", "config": {"unattended": 1}}),
                "/config/unattended",
                "true or false is expected, not 1",
            ),
        ];
        for (body, pointer, message) in table {
            assert_eq!(refused::<StartRun>(&body), [(pointer.to_owned(), message.to_owned())], "{body}");
        }
        let ask = json!({"kind": "question", "title": "t", "options": [{"id": "answer", "lable": "x"}]});
        assert_eq!(refused::<Ask>(&ask)[0].0, "/options/0/lable");
        let late = json!({"kind": "question", "title": "t", "expires_in_ms": -1});
        let told = "a whole number from 0 is expected, not -1".to_owned();
        assert_eq!(refused::<Ask>(&late), [("/expires_in_ms".to_owned(), told)]);
    }
}
