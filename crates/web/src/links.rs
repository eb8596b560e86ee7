//! Tokens of decision links: who may decide on what, until when, sealed so that nobody else can make one.
//!
//! A token is the claim and its HMAC under a key of the operator's token, so it outlives the process and not that
//! token. Nothing is kept for it: an interrupt is resolved once, and with it every link to it is spent.

use data_encoding::BASE64URL_NOPAD;
use hmac::digest::Key;
use hmac::{Hmac, KeyInit, Mac};
use holdshort_core::digest::Digest;
use holdshort_core::id::{InterruptId, KeyId};
use holdshort_core::time::Timestamp;
use holdshort_protocol::Interrupt;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::Sha256;

type Seal = Hmac<Sha256>;

/// Bytes of an HMAC-SHA-256.
const SEAL_BYTES: usize = 32;

pub struct Links {
    seal: Seal,
}

/// What a link is good for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    #[serde(rename = "i")]
    pub interrupt: InterruptId,
    /// In whose name it decides.
    #[serde(rename = "p")]
    pub person: String,
    /// Of what is decided: see `subject`.
    #[serde(rename = "d")]
    pub subject: Digest,
    #[serde(rename = "x")]
    pub expires_at: Timestamp,
    /// Of a link that was made with a key: it ends with the key.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
}

impl Links {
    pub fn new(operator: &str) -> Self {
        let digest = Digest::of_parts(&[b"holdshort decision links\n", operator.as_bytes()]);
        // RFC 2104, 2: a short key is filled up with zeros.
        let mut key = Key::<Seal>::default();
        key[..SEAL_BYTES].copy_from_slice(digest.as_bytes());
        Self { seal: Seal::new(&key) }
    }

    pub fn token(&self, claim: &Claim) -> String {
        let mut bytes = serde_json::to_vec(claim).unwrap_or_default();
        let seal = self.seal.clone().chain_update(&bytes).finalize();
        bytes.extend_from_slice(&seal.into_bytes());
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// The claim of a token that this server sealed. Nothing is read of any other.
    pub fn claim(&self, token: &str) -> Option<Claim> {
        let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).ok()?;
        let (claim, seal) = bytes.split_last_chunk::<SEAL_BYTES>()?;
        self.seal.clone().chain_update(claim).verify_slice(seal).ok()?;
        serde_json::from_slice(claim).ok()
    }
}

/// What a link is bound to: what will run, or where nothing does, what the person is shown.
pub fn subject(interrupt: &Interrupt) -> Digest {
    let action = interrupt.action_digest.clone().and_then(|digest| Digest::try_from(digest).ok());
    action.unwrap_or_else(|| Digest::of_json(&json!([interrupt.title, interrupt.payload])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim() -> Claim {
        Claim {
            interrupt: "int_01k6f0000000000000000000cc".parse().unwrap(),
            person: "operator".to_owned(),
            subject: Digest::of(b"what will run"),
            expires_at: Timestamp::from_millis(1_000),
            key: None,
        }
    }

    #[test]
    fn a_token_holds_its_claim_for_the_same_key_alone() {
        let token = Links::new("token").token(&claim());
        assert_eq!(Links::new("token").claim(&token), Some(claim()), "also after a restart");
        assert_eq!(Links::new("another").claim(&token), None);
        assert!(token.len() < 300, "fits into a line of a mail: {}", token.len());
    }

    #[test]
    fn no_bit_of_a_token_can_be_another() {
        let links = Links::new("token");
        let token = links.token(&claim());
        let bytes = BASE64URL_NOPAD.decode(token.as_bytes()).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut altered = bytes.clone();
            altered[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(links.claim(&BASE64URL_NOPAD.encode(&altered)), None, "{bit}");
        }
        for altered in ["", "AAAA", &token[1..], &token[..token.len() - 4], &format!("{token}AAAA")] {
            assert_eq!(links.claim(altered), None, "{altered}");
        }
        let unsealed = BASE64URL_NOPAD.encode(&serde_json::to_vec(&claim()).unwrap());
        assert_eq!(links.claim(&unsealed), None);
    }
}
