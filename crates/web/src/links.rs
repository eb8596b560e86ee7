//! Tokens of decision links. A token contains the person, the interrupt and the expiry, and is [sealed](Seal), so that
//! only this server can create one.
//!
//! The server stores no link. Every link to an interrupt becomes invalid when the interrupt is resolved.

use holdshort_core::digest::Digest;
use holdshort_core::id::{DeliveryId, InterruptId, KeyId};
use holdshort_core::people::Since;
use holdshort_core::time::Timestamp;
use holdshort_engine::IdempotencyKey;
use serde::{Deserialize, Serialize};

use crate::seal::Seal;

pub struct Links(Seal);

/// Signer for the values of buttons in chat messages. A button opens a form.
pub struct Pressed(Seal);

/// Action of a button in a chat message. The button opens a form in which a person decides for the option `option`.
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

    /// Returns the action in the value of a chat message's button. Returns `None` if this server did not create the
    /// value.
    pub fn press(&self, value: &str) -> Option<Press> {
        self.0.open(value)
    }
}

/// Content of the token of a decision link, in its signed form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    #[serde(rename = "i")]
    pub interrupt: InterruptId,
    /// Person who decides with the decision link.
    #[serde(rename = "p")]
    pub person: String,
    /// Digest of the action or content that the decision is about, from `view::interrupt::subject_digest`.
    #[serde(rename = "d")]
    pub subject: Digest,
    #[serde(rename = "x")]
    pub expires_at: Timestamp,
    /// Access key with which the decision link was created. If the key expires or is revoked, the link becomes invalid.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// Creation time of the decision link. If the person of the link is removed after this time, the link becomes
    /// invalid. Links that an earlier version of Holdshort created have no creation time.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub made_at: Option<Timestamp>,
    /// Number of the last installation event (a change to people, keys or settings) that was known when the decision
    /// link was created.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Delivery that mailed the decision link to its person. Each mailed link can be used only once. Links to risky
    /// interrupts are never mailed.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub mailed: Option<DeliveryId>,
    /// The only option that the person can choose with the decision link. `None` if the person can choose any option.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Digests of the session and the subject at the identity provider, if the person opened the decision link by
    /// signing in at the provider. The link becomes invalid when the person signs out, at this server or at the
    /// provider.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub there: Option<Vec<Digest>>,
    /// Person who created the login link with which the person of the decision link signed in. `None` if both are the
    /// same person.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
}

impl Claim {
    /// Returns the idempotency key of a mailed decision link, so that the link can be used only once. Returns `None`
    /// for any other link.
    pub fn once(&self) -> Option<IdempotencyKey> {
        let delivery = self.mailed.as_ref()?;
        // The digest does not cover the decision, so that the link cannot be used for a second, different decision.
        let digest = Digest::of_bytes(delivery.as_str().as_bytes());
        let scope = format!("{} link", self.person);
        Some(IdempotencyKey { scope, key: delivery.to_string(), digest })
    }

    /// Returns the time at which the decision link was created, or `None` if an earlier version of Holdshort created it
    /// without a time.
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

    /// Returns the number of four digits that the page of a decision link shows. The person must type this number into
    /// the form, so that a program that follows links and submits forms does not decide.
    pub fn number(token: &str) -> String {
        let digest = Digest::of_parts(&[b"holdshort shown number\n", token.as_bytes()]);
        let [a, b, ..] = digest.as_bytes();
        format!("{:04}", u16::from_be_bytes([*a, *b]) % 10_000)
    }

    /// Returns the content of the token of a decision link. Returns `None` if this server did not create the token.
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
