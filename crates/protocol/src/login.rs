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
    /// Where the page goes then: a place of this server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// The identity provider at which people sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "name": "Example", "sign_in": "https://holdshort.example.org/login/oidc",
    "sign_out": "https://holdshort.example.org/login/oidc/out"
}))]
pub struct LoginProvider {
    pub name: String,
    /// A page that leads there; `?to=/inbox` says where to go afterwards.
    pub sign_in: String,
    /// A page that signs out there, too.
    pub sign_out: String,
}

/// The sign-in of a terminal that has begun (RFC 8628).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "device": "eyJjIjoi…", "user_code": "WDJB-MJHT", "page": "https://login.example.org/device",
    "interval_ms": 5000, "expires_at": "2026-01-31T09:40:00.000Z"
}))]
pub struct DeviceLogin {
    /// To be shown again when it is asked about. Whoever has it gets in once the person has signed in.
    pub device: String,
    /// What the person types at the page of the provider.
    pub user_code: String,
    pub page: String,
    /// The page with the code in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_with_code: Option<String>,
    /// How long to wait before it is asked about.
    pub interval_ms: u64,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Which sign-in of a terminal is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"device": "eyJjIjoi…"}))]
pub struct DeviceHandle {
    pub device: String,
}

/// A notice of the identity provider that somebody has signed out there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"logout_token": "eyJ…"}))]
pub struct LogoutNotice {
    /// A token of the provider. More fields may be there.
    pub logout_token: String,
}

/// What has become of the sign-in of a terminal: one of the two is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"wait_ms": 5000}))]
pub struct DeviceProgress {
    /// Nobody has signed in yet: ask again after so long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// The handle to ask with from here on, where the provider wants to be asked less often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<TokenLogin>,
}

/// A login of a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "token": "hs_login_0c1f…", "person": "anna", "role": "operator", "expires_at": "2026-02-01T21:30:00.000Z"
}))]
pub struct TokenLogin {
    /// To be sent as `Authorization: Bearer TOKEN`, and to be kept for its person alone.
    pub token: String,
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
