//! Web Push subscriptions of browsers that show notifications to a person.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Subscription of a browser: `PushSubscription` of the Push API. All fields are secret.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "endpoint": "https://push.example.org/send/6sGVP8qXqKk",
    "p256dh": "BLn9b-VR0ca83knDNZ32dCHGyjJp-1riX9ZTN40MqV8K_LpQmLqxC_DoHvqvFXO_nGdAB4W9dogZb_sM-uV4JbY",
    "auth": "_ordMnz7uTCmrpBTeUV4Bw"
}))]
pub struct SubscribePush {
    /// URL at which the push service accepts messages for the browser.
    #[schema(max_length = 2048)]
    pub endpoint: String,
    /// Public key of the browser: an uncompressed P-256 point in base64url without padding.
    pub p256dh: String,
    /// Authentication secret of 16 bytes in base64url without padding.
    pub auth: String,
}

/// One subscription of a browser, without its endpoint and keys.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "psh_01k6f0000000000000000000aa", "host": "push.example.org",
    "endpoint_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "since": "2026-11-01T10:00:00.000Z"
}))]
pub struct PushSubscription {
    pub id: String,
    /// Host of the push service.
    pub host: String,
    /// SHA-256 of the endpoint, in hexadecimal. To find its subscription, a browser compares this hash with the hash of
    /// its endpoint.
    pub endpoint_sha256: String,
    #[schema(format = DateTime)]
    pub since: String,
}

/// Web Push subscriptions of the caller's browsers, and the public key with which a browser creates a new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "key": "BLn9b-VR0ca83knDNZ32dCHGyjJp-1riX9ZTN40MqV8K_LpQmLqxC_DoHvqvFXO_nGdAB4W9dogZb_sM-uV4JbY", "items": []
}))]
pub struct PushSubscriptions {
    /// `applicationServerKey` for a new subscription. Absent if no channel of the type `push` is configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Subscriptions, oldest first.
    pub items: Vec<PushSubscription>,
}
