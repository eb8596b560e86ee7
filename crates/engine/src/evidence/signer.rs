//! The key that signs checkpoints: Ed25519 (RFC 8032), implemented by `ring`.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64;
use holdshort_core::digest::Digest;
use ring::rand::SystemRandom;
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};

/// Number that identifies Ed25519 in the format of signed notes.
const ALGORITHM: u8 = 1;

/// Secret key for signatures, which is never displayed.
pub struct Signer(Ed25519KeyPair);

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a checkpoint signing key")]
pub struct BadKey;

impl Signer {
    /// Generates a new signing key, encoded as PKCS #8.
    pub fn draw() -> Result<Vec<u8>, BadKey> {
        let drawn = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|_| BadKey)?;
        Ok(drawn.as_ref().to_vec())
    }

    pub fn from_pkcs8(pkcs8: &[u8]) -> Result<Self, BadKey> {
        Ed25519KeyPair::from_pkcs8(pkcs8).map(Self).map_err(|_| BadKey)
    }

    pub fn key(&self) -> VerifyingKey {
        let mut key = [0; 32];
        key.copy_from_slice(self.0.public_key().as_ref());
        VerifyingKey(key)
    }

    pub(super) fn sign(&self, text: &[u8]) -> Vec<u8> {
        self.0.sign(text).as_ref().to_vec()
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.key())
    }
}

/// Public key, which is displayed in base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VerifyingKey([u8; 32]);

impl VerifyingKey {
    /// Returns the key in the format of tools for signed notes: `NAME+HASH+KEY`.
    pub fn vkey(&self, name: &str) -> String {
        let hash = u32::from_be_bytes(self.hash(name));
        let key: Vec<u8> = [ALGORITHM].into_iter().chain(self.0).collect();
        format!("{name}+{hash:08x}+{}", BASE64.encode(&key))
    }

    /// Returns the bytes at the beginning of a signature from which a verifier recognises the key.
    fn hash(&self, name: &str) -> [u8; 4] {
        let digest = Digest::of_parts(&[name.as_bytes(), b"\n", &[ALGORITHM], &self.0]);
        let [a, b, c, d, ..] = *digest.as_bytes();
        [a, b, c, d]
    }

    /// Returns the bytes that identify the key, followed by the signature.
    pub(super) fn signature_line(&self, name: &str, signature: &[u8]) -> Vec<u8> {
        [&self.hash(name), signature].concat()
    }

    pub(super) fn has_signed(&self, name: &str, text: &[u8], signature: &[u8]) -> bool {
        let Some(signature) = signature.strip_prefix(&self.hash(name)) else { return false };
        UnparsedPublicKey::new(&ED25519, self.0).verify(text, signature).is_ok()
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&BASE64.encode(&self.0))
    }
}

/// Parses a key in base64 or in the format `NAME+HASH+KEY`.
impl FromStr for VerifyingKey {
    type Err = BadKey;

    fn from_str(text: &str) -> Result<Self, BadKey> {
        // `splitn` keeps the rest of the text together, because the base64 of the key may contain `+`.
        let mut parts = text.splitn(3, '+').skip(1);
        let is_hash = |part: &str| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        let written = parts.next().filter(|part| is_hash(part)).and(parts.next()).unwrap_or(text);
        let bytes = BASE64.decode(written.as_bytes()).map_err(|_| BadKey)?;
        let key = match bytes.split_first() {
            Some((&ALGORITHM, key)) if key.len() == 32 => key,
            _ => &bytes,
        };
        key.try_into().map(Self).map_err(|_| BadKey)
    }
}
