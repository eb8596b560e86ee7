//! Key with which this server identifies itself to push services (RFC 8292): ECDSA over P-256, implemented by `ring`. A
//! push subscription belongs to one such key, and the push service accepts only messages that are signed with it.

use std::fmt;

use data_encoding::BASE64URL_NOPAD;
use holdshort_core::time::Timestamp;
use reqwest::Url;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::json;

use crate::limits::VAPID;

/// Key pair with which the server identifies itself to push services. The private key is never shown.
pub struct Vapid(EcdsaKeyPair);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a key for push services")]
pub struct BadVapid;

impl Vapid {
    /// Generates a key pair for push services. Returns the private key in PKCS #8 format.
    pub fn draw() -> Result<Vec<u8>, BadVapid> {
        let drawn = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Ok(drawn.map_err(|_| BadVapid)?.as_ref().to_vec())
    }

    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, BadVapid> {
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &SystemRandom::new());
        pair.map(Self).map_err(|_| BadVapid)
    }

    /// Returns the server's public key for push services in the form that browsers expect: the uncompressed point in
    /// base64url.
    pub fn public(&self) -> String {
        BASE64URL_NOPAD.encode(self.0.public_key().as_ref())
    }

    /// Returns the header `Authorization` for requests to a push endpoint. The header is valid for half a day, and only
    /// at the push service of this endpoint. `contact` is an address at which the push service can reach the operator.
    pub(crate) fn authorization(&self, endpoint: &Url, contact: &str, now: Timestamp) -> Option<String> {
        let claims = json!({
            "aud": endpoint.origin().ascii_serialization(),
            "exp": now.plus_ms(u64::try_from(VAPID.as_millis()).unwrap_or(0)).as_millis() / 1_000,
            "sub": contact,
        });
        let part = |text: &str| BASE64URL_NOPAD.encode(text.as_bytes());
        let signed = format!("{}.{}", part(r#"{"typ":"JWT","alg":"ES256"}"#), part(&claims.to_string()));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).ok()?;
        let signature = BASE64URL_NOPAD.encode(signature.as_ref());
        Some(format!("vapid t={signed}.{signature}, k={}", self.public()))
    }
}

impl fmt::Debug for Vapid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Vapid({})", self.public())
    }
}
