//! SHA-256 as lower-case hexadecimal text. All digests of JSON values are computed here, from RFC 8785 bytes.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::json;

/// SHA-256 digest: 32 bytes, written as 64 hexadecimal characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    pub const ZERO: Self = Self([0; 32]);

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the digest of raw bytes, such as the bytes of a file.
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(sha256_parts(&[bytes]))
    }

    /// Returns the digest of the parts, concatenated.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        Self(sha256_parts(parts))
    }

    /// Returns the digest of the canonical JSON (RFC 8785) of a value.
    pub fn of_json<T: Serialize>(value: &T) -> Self {
        Self::of_bytes(&json::canonical(value))
    }
}

pub(crate) fn sha256_parts(parts: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 64];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).expect("digits are ASCII"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// Error returned when a text does not consist of 64 hexadecimal characters.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 digest with 64 hexadecimal digits")]
pub struct Malformed;

impl TryFrom<String> for Digest {
    type Error = Malformed;
    fn try_from(text: String) -> Result<Self, Malformed> {
        let text = text.as_bytes();
        if text.len() != 64 {
            return Err(Malformed);
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let digit =
                |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok()).ok_or(Malformed);
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}
