//! The `Idempotency-Key` header. Carries out only the first of several requests with which one caller sends the same
//! key.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_engine::IdempotencyKey;
use holdshort_protocol::{Code, header};
use serde_json::Value;

use crate::limits::IDEMPOTENCY_KEY_BYTES;
use crate::problem::{Answer, Refused};

/// Idempotency key of a request; `None` if the request has no such header.
pub struct Idempotency(Option<String>);

impl<S: Send + Sync> FromRequestParts<S> for Idempotency {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Answer<Self> {
        let mut values = parts.headers.get_all(header::IDEMPOTENCY_KEY).iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        let key = value.to_str().unwrap_or_default().trim();
        if values.next().is_some() || key.is_empty() || key.len() > IDEMPOTENCY_KEY_BYTES {
            let rule = format!(
                "Idempotency-Key: one value of 1 to {IDEMPOTENCY_KEY_BYTES} visible ASCII characters"
            );
            return Err(Refused::new(Code::InvalidHeader, rule));
        }
        Ok(Self(Some(key.to_owned())))
    }
}

impl Idempotency {
    /// Returns the idempotency key for this caller and route. The key includes a digest of the parsed request body, so
    /// that white space and the order of JSON members do not matter.
    pub fn into_key(self, actor: &Actor, route: &str, body: &Value) -> Option<IdempotencyKey> {
        self.0.map(|key| IdempotencyKey {
            scope: format!("{} {route}", actor.id),
            key,
            digest: Digest::of_json(body),
        })
    }
}
