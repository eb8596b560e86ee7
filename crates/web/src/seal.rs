//! Values that this server signs, sends to clients, and accepts when clients send them back. Each value has an HMAC
//! with a key that is derived from the operator's token. A sealed value stays valid after a restart and on all nodes
//! that share the journal, until the operator's token changes. A sealed value is signed but not encrypted, so clients
//! can read it.

use data_encoding::BASE64URL_NOPAD;
use hmac::digest::Key;
use hmac::{Hmac, KeyInit, Mac};
use holdshort_core::digest::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;

type Code = Hmac<Sha256>;

/// Number of bytes of the HMAC-SHA-256 that seals a value.
const SEAL_BYTES: usize = 32;

/// Key that signs and verifies values for one purpose. A value that was signed for another purpose is rejected.
pub struct Seal(Code);

impl Seal {
    pub fn new(purpose: &str, operator: &str) -> Self {
        let digest = Digest::of_parts(&[format!("holdshort {purpose}\n").as_bytes(), operator.as_bytes()]);
        // HMAC pads a short key with zeros (RFC 2104, 2).
        let mut key = Key::<Code>::default();
        key[..SEAL_BYTES].copy_from_slice(digest.as_bytes());
        Self(Code::new(&key))
    }

    pub fn seal<T: Serialize>(&self, value: &T) -> String {
        let mut bytes = serde_json::to_vec(value).unwrap_or_default();
        let seal = self.0.clone().chain_update(&bytes).finalize();
        bytes.extend_from_slice(&seal.into_bytes());
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// Returns the value that a sealed text contains. Returns `None` if this server did not create `text`. The value is
    /// parsed only after its HMAC is verified.
    pub fn open<T: DeserializeOwned>(&self, text: &str) -> Option<T> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (value, seal) = bytes.split_last_chunk::<SEAL_BYTES>()?;
        self.0.clone().chain_update(value).verify_slice(seal).ok()?;
        serde_json::from_slice(value).ok()
    }
}
