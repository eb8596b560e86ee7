//! Signatures as Standard Webhooks 1.0.0 defines them, and the signature header of source document 003.
//!
//! A `v1` signature is the HMAC-SHA256 of `{id}.{timestamp}.{body}`. The body consists of exactly the bytes that are
//! sent. With several secrets, there is one signature for each, so a receiver needs only one of the secrets.

use data_encoding::{BASE64, HEXLOWER};
use ring::hmac::{HMAC_SHA256, Key, sign};

use crate::limits::{SECRET_LEAST_BYTES, SECRET_MOST_BYTES};

const PREFIX: &str = "whsec_";

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    #[error(
        "is not a Standard Webhooks secret: write `{PREFIX}` and base64, as from `whsec_$(openssl rand \
        -base64 32)`"
    )]
    Form,
    #[error("has {0} bytes; a Standard Webhooks secret has from {SECRET_LEAST_BYTES} to {SECRET_MOST_BYTES}")]
    Length(usize),
}

/// A secret that signs webhooks. It is never shown.
#[derive(Clone)]
pub struct Secret {
    key: Key,
    /// Key made from the text of the signing secret, for receivers that do not decode `whsec_…`.
    as_written: Key,
}

impl Secret {
    /// Parses a signing secret such as `whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw`.
    pub fn parse(text: &str) -> Result<Self, SecretError> {
        let bytes = text.strip_prefix(PREFIX).and_then(|text| BASE64.decode(text.as_bytes()).ok());
        let bytes = bytes.ok_or(SecretError::Form)?;
        if !(SECRET_LEAST_BYTES..=SECRET_MOST_BYTES).contains(&bytes.len()) {
            return Err(SecretError::Length(bytes.len()));
        }
        Ok(Self { key: Key::new(HMAC_SHA256, &bytes), as_written: Key::new(HMAC_SHA256, text.as_bytes()) })
    }

    /// Creates a signing secret from any text, as clients of the crew edge use it. The secret may be invalid for
    /// Standard Webhooks.
    pub fn plain(text: &str) -> Self {
        let key = Key::new(HMAC_SHA256, text.as_bytes());
        Self { as_written: key.clone(), key }
    }

    /// Returns the signature of a webhook, with `v1,` before it.
    pub fn sign(&self, id: &str, timestamp: i64, body: &[u8]) -> String {
        let mut signed = format!("{id}.{timestamp}.").into_bytes();
        signed.extend_from_slice(body);
        format!("v1,{}", BASE64.encode(sign(&self.key, &signed).as_ref()))
    }

    /// Returns the HMAC-SHA256 of only the webhook's body, in hexadecimal.
    pub fn sign_body(&self, body: &[u8]) -> String {
        HEXLOWER.encode(&self.digest_of_body(body))
    }

    /// Returns the HMAC-SHA256 of only the webhook's body, as bytes.
    pub(crate) fn digest_of_body(&self, body: &[u8]) -> Vec<u8> {
        sign(&self.as_written, body).as_ref().to_vec()
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}
