//! Bodies of the endpoints that sign a browser in and make links for people.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Role;

/// An address to open in a browser. Whoever has it gets in: show it to one person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "url": "http://127.0.0.1:4100/login#0c1f…", "expires_at": "2026-01-31T09:45:00.000Z"
}))]
pub struct Link {
    pub url: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Whom a login link signs in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"person": "anna"}))]
pub struct LoginLinkRequest {
    /// Without it: whoever makes the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

/// The code of a login link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"code": "0c1f…"}))]
pub struct Redeem {
    /// What follows the `#` of the link.
    pub code: String,
}

/// A login. The cookie comes with the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "secret": "b41d…", "person": "operator", "role": "operator", "expires_at": "2026-03-02T09:30:00.000Z"
}))]
pub struct Login {
    /// To be kept in the storage of the page's origin, and sent as `X-Holdshort-Secret` beside the cookie.
    pub secret: String,
    pub person: String,
    pub role: Role,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"person": "operator", "role": "operator", "roles": ["admin", "operator"]}))]
pub struct Identity {
    pub person: String,
    /// What people call them, where an issuer of tokens says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// In which they read.
    pub role: Role,
    /// All that they may act in; each thing is done in the one that may do it.
    pub roles: Vec<Role>,
    /// As an issuer of tokens says.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Of a login, of a key that expires, or of a token of an issuer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

/// A link for a person who decides on one interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expires_in_ms": 86_400_000}))]
pub struct LinkRequest {
    /// Seven days where it is left out; at most 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2_592_000_000u64)]
    pub expires_in_ms: Option<u64>,
}
