//! Bodies of the endpoints for signing in and for login links.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Role;

/// An address to open in a browser. Its holder is signed in: show it to one person only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "url": "http://127.0.0.1:4100/login#0c1f…", "expires_at": "2026-01-31T09:45:00.000Z"
}))]
pub struct Link {
    pub url: String,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Request to create a login link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"person": "anna"}))]
pub struct LoginLinkRequest {
    /// Id of the person to sign in. Defaults to the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

/// Code of a login link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"code": "0c1f…"}))]
pub struct Redeem {
    /// Text after the `#` of the link.
    pub code: String,
}

/// A login of a browser. The response sets its cookie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "secret": "b41d…", "person": "operator", "role": "operator", "expires_at": "2026-03-02T09:30:00.000Z"
}))]
pub struct Login {
    /// Secret to store in the origin's storage and to send as `X-Holdshort-Secret` together with the cookie.
    pub secret: String,
    pub person: String,
    pub role: Role,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Path on this server to open next. Absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Identity provider at which people sign in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "name": "Example", "sign_in": "https://holdshort.example.org/login/oidc",
    "sign_out": "https://holdshort.example.org/login/oidc/out"
}))]
pub struct LoginProvider {
    pub name: String,
    /// Page that starts the sign-in. `?to=/inbox` names the page to open afterwards.
    pub sign_in: String,
    /// Page that signs out of this server and of the provider.
    pub sign_out: String,
}

/// A sign-in of a terminal that was started (RFC 8628).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "device": "eyJjIjoi…", "user_code": "WDJB-MJHT", "page": "https://login.example.org/device",
    "interval_ms": 5000, "expires_at": "2026-01-31T09:40:00.000Z"
}))]
pub struct DeviceLogin {
    /// Handle of the sign-in, to send with each poll. Its holder gets the login after the person has signed in:
    /// keep it secret.
    pub device: String,
    /// Code that the person types on the provider's page.
    pub user_code: String,
    pub page: String,
    /// Page that already contains the code. Absent if the provider has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_with_code: Option<String>,
    /// Milliseconds to wait before each poll.
    pub interval_ms: u64,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Sign-in of a terminal that is polled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"device": "eyJjIjoi…"}))]
pub struct DeviceHandle {
    pub device: String,
}

/// Notice of the identity provider that a person signed out there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"logout_token": "eyJ…"}))]
pub struct LogoutNotice {
    /// Logout token of the provider. Other fields are allowed.
    pub logout_token: String,
}

/// State of a terminal's sign-in: either `wait_ms` or `login` is present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"wait_ms": 5000}))]
pub struct DeviceProgress {
    /// Milliseconds until the next poll. Present if the person has not signed in yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// New handle for the next polls. Present if the provider asks for a longer interval.
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
    /// Token to send as `Authorization: Bearer TOKEN`. Store it so that only its person can read it.
    pub token: String,
    pub person: String,
    pub role: Role,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Identity of the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"person": "operator", "role": "operator", "roles": ["admin", "operator"]}))]
pub struct Identity {
    pub person: String,
    /// Display name. Absent unless a token issuer gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Role in which the caller reads.
    pub role: Role,
    /// All roles of the caller. Each action uses one that permits it.
    pub roles: Vec<Role>,
    /// Groups that a token issuer gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Time at which the login, key or issued token expires. Absent if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

/// Request to create a link with which a person decides on one interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expires_in_ms": 86_400_000}))]
pub struct LinkRequest {
    /// Lifetime in milliseconds. Defaults to seven days; at most 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2_592_000_000u64)]
    pub expires_in_ms: Option<u64>,
}
