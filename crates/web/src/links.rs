//! Tokens of decision links: the person, the interrupt and the expiry, [sealed](Seal) so that only this server can make
//! one.
//!
//! No state is kept for a link. An interrupt is resolved once, and that ends every link to it.

use holdshort_core::digest::Digest;
use holdshort_core::id::{DeliveryId, InterruptId, KeyId};
use holdshort_core::people::Since;
use holdshort_core::time::Timestamp;
use holdshort_engine::IdempotencyKey;
use serde::{Deserialize, Serialize};

use crate::seal::Seal;

pub struct Links(Seal);

/// Sealed values of message buttons, which open a form in a chat.
pub struct Pressed(Seal);

/// Action of a button: opens a form for this option.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Press {
    #[serde(rename = "i")]
    pub interrupt: InterruptId,
    #[serde(rename = "d")]
    pub subject: Digest,
    #[serde(rename = "o")]
    pub option: String,
}

impl Pressed {
    pub fn new(operator: &str) -> Self {
        Self(Seal::new("buttons of messages", operator))
    }

    pub fn value(&self, press: &Press) -> String {
        self.0.seal(press)
    }

    /// Returns the action in a value that this server sealed.
    pub fn press(&self, value: &str) -> Option<Press> {
        self.0.open(value)
    }
}

/// Content of a decision link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    #[serde(rename = "i")]
    pub interrupt: InterruptId,
    /// Person in whose name the link decides.
    #[serde(rename = "p")]
    pub person: String,
    /// Digest of the decision's subject: see `view::interrupt::subject_digest`.
    #[serde(rename = "d")]
    pub subject: Digest,
    #[serde(rename = "x")]
    pub expires_at: Timestamp,
    /// Key with which the link was made. The link ends with the key.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// Creation time. The link ends when its person leaves. Links of earlier versions have none.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub made_at: Option<Timestamp>,
    /// Last event of the installation's stream that was known then.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Delivery that brought the link to its person. Such a link is used once, and not for risky interrupts.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub mailed: Option<DeliveryId>,
    /// The only option that the link may choose; `None`: any.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Digests of the provider's sessions, for the page that a sign-in led to. Its link ends at sign-out, here or
    /// there.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub there: Option<Vec<Digest>>,
    /// Creator of the login link that signed the person in, if that was another person.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
}

impl Claim {
    /// Returns the key under which a mailed link is used once.
    pub fn once(&self) -> Option<IdempotencyKey> {
        let delivery = self.mailed.as_ref()?;
        // The digest does not cover the decision: any decision uses the link up.
        let digest = Digest::of_bytes(delivery.as_str().as_bytes());
        let scope = format!("{} link", self.person);
        Some(IdempotencyKey { scope, key: delivery.to_string(), digest })
    }

    /// Returns the creation time, if the link has one.
    pub fn since(&self) -> Option<Since> {
        self.made_at.map(|at| Since { at, seq: self.seq })
    }
}

impl Links {
    pub fn new(operator: &str) -> Self {
        Self(Seal::new("decision links", operator))
    }

    pub fn token(&self, claim: &Claim) -> String {
        self.0.seal(claim)
    }

    /// Returns the number that the page of a token shows and a person types. Programs that follow links and submit
    /// forms do not type it.
    pub fn number(token: &str) -> String {
        let digest = Digest::of_parts(&[b"holdshort shown number\n", token.as_bytes()]);
        let [a, b, ..] = digest.as_bytes();
        format!("{:04}", u16::from_be_bytes([*a, *b]) % 10_000)
    }

    /// Returns the claim of a token that this server sealed.
    pub fn claim(&self, token: &str) -> Option<Claim> {
        self.0.open(token)
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::BASE64URL_NOPAD;

    use super::*;

    fn claim() -> Claim {
        Claim {
            interrupt: "int_01k6f0000000000000000000cc".parse().unwrap(),
            person: "operator".to_owned(),
            subject: Digest::of_bytes(b"what will run"),
            expires_at: Timestamp::from_millis(1_000),
            key: None,
            made_at: Some(Timestamp::from_millis(10)),
            seq: Some(7),
            mailed: None,
            option: None,
            there: None,
            let_in_by: None,
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
