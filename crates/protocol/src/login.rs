//! Request and response bodies of the endpoints for sign-in and for login links.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::Role;

/// A login link to open in a browser. The link signs in anyone who opens it, so show it to one person only.
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
    /// Id of the person whom the link signs in. Defaults to the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

/// Request to redeem a login link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"code": "0c1f…"}))]
pub struct Redeem {
    /// Text after the `#` of the login link.
    pub code: String,
}

/// A login of a browser. The response also sets the session cookie.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "secret": "b41d…", "person": "operator", "role": "operator", "expires_at": "2026-03-02T09:30:00.000Z"
}))]
pub struct Login {
    /// Secret of the login. The page keeps the secret in the browser's storage of its origin, and sends it as
    /// `X-Holdshort-Secret` together with the session cookie.
    pub secret: String,
    pub person: String,
    pub role: Role,
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Path on this server to open after the sign-in. Absent if there is no such path.
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
    /// URL of the page that starts the sign-in. `?to=/inbox` names the page to open after the sign-in.
    pub sign_in: String,
    /// URL of the page that signs out of this server and of the identity provider.
    pub sign_out: String,
}

/// Start of a sign-in of a terminal (RFC 8628).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "device": "eyJjIjoi…", "user_code": "WDJB-MJHT", "page": "https://login.example.org/device",
    "interval_ms": 5000, "expires_at": "2026-01-31T09:40:00.000Z"
}))]
pub struct DeviceLogin {
    /// Secret handle of the sign-in, to send with each poll. After the person has signed in, anyone with the handle can
    /// get the login.
    pub device: String,
    /// Code that the person types on the provider's page.
    pub user_code: String,
    pub page: String,
    /// Page that already contains the user code. Absent if the identity provider has no such page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_with_code: Option<String>,
    /// Milliseconds to wait before each poll.
    pub interval_ms: u64,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Request to poll the sign-in of a terminal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"device": "eyJjIjoi…"}))]
pub struct DeviceHandle {
    pub device: String,
}

/// Notification from the identity provider that a person signed out there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"logout_token": "eyJ…"}))]
pub struct LogoutNotice {
    /// Logout token of the identity provider. The body may contain other fields.
    pub logout_token: String,
}

/// State of a terminal's sign-in. Exactly one of `wait_ms` and `login` is present.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"wait_ms": 5000}))]
pub struct DeviceProgress {
    /// Milliseconds to wait until the next poll. Present if the person has not signed in yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
    /// New handle for all further polls. Present if the identity provider requires a longer interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub login: Option<TokenLogin>,
}

/// Login of a terminal, with the token that authenticates it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "token": "hs_login_0c1f…", "person": "anna", "role": "operator", "expires_at": "2026-02-01T21:30:00.000Z"
}))]
pub struct TokenLogin {
    /// Token, to send as `Authorization: Bearer TOKEN`. Store the token so that only the person who signed in can read
    /// it.
    pub token: String,
    pub person: String,
    pub role: Role,
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Identity of the caller: the id, the roles and groups, and the expiry of the access.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"person": "operator", "role": "operator", "roles": ["admin", "operator"]}))]
pub struct Identity {
    pub person: String,
    /// Display name of the caller. Absent if the issuer of the caller's token sends no name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Role of the caller that applies to read requests.
    pub role: Role,
    /// All roles of the caller. An action is allowed if one of the roles permits it.
    pub roles: Vec<Role>,
    /// Groups of the caller, as listed by the issuer of the caller's token.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// Time at which the caller's login, key or token expires. Absent if it does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub expires_at: Option<String>,
}

/// Request to create a link that lets a person decide on one interrupt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"expires_in_ms": 86_400_000}))]
pub struct LinkRequest {
    /// Lifetime of the link in milliseconds. Defaults to seven days; the maximum is 30 days.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 2_592_000_000u64)]
    pub expires_in_ms: Option<u64>,
}
