//! Tokens of decision links. A token contains the person, the interrupt and the expiry, and is [sealed](Seal), so that
//! only this server can create one.
//!
//! The server stores no state of a link. Every link to an interrupt becomes invalid when the interrupt is resolved.

use holdshort_core::digest::Digest;
use holdshort_core::id::{DeliveryId, InterruptId, KeyId};
use holdshort_core::people::Since;
use holdshort_core::time::Timestamp;
use holdshort_engine::IdempotencyKey;
use serde::{Deserialize, Serialize};

use crate::seal::Seal;

pub struct Links(Seal);

/// Signs the values of message buttons, which open a form in a chat.
pub struct Pressed(Seal);

/// Action of a button: opens a form for the option `option`.
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

    /// Returns the action in a button's value. Returns `None` if this server did not create the value.
    pub fn press(&self, value: &str) -> Option<Press> {
        self.0.open(value)
    }
}

/// Content of a decision link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    #[serde(rename = "i")]
    pub interrupt: InterruptId,
    /// Person who decides with the link.
    #[serde(rename = "p")]
    pub person: String,
    /// Digest of the subject of the decision. See `view::interrupt::subject_digest`.
    #[serde(rename = "d")]
    pub subject: Digest,
    #[serde(rename = "x")]
    pub expires_at: Timestamp,
    /// Key that created the link. The link becomes invalid when this key becomes invalid.
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// Creation time. The link becomes invalid when its person is removed. Links of earlier versions have no creation
    /// time.
    #[serde(rename = "m", default, skip_serializing_if = "Option::is_none")]
    pub made_at: Option<Timestamp>,
    /// Sequence number of the installation's last known event when the link was created.
    #[serde(rename = "q", default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Delivery that sent the link to its person. Such a link can be used once, and never for a risky interrupt.
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    pub mailed: Option<DeliveryId>,
    /// The only option that can be chosen with the link. `None` allows all options.
    #[serde(rename = "o", default, skip_serializing_if = "Option::is_none")]
    pub option: Option<String>,
    /// Digests of the session and subject at the provider, for a link that a sign-in created. The link becomes invalid
    /// when the person signs out, here or at the provider.
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    pub there: Option<Vec<Digest>>,
    /// Person who created the login link with which the person of this link signed in. `None` if the same person
    /// created it.
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
}

impl Claim {
    /// Returns the idempotency key of a mailed link, so that the link can be used only once.
    pub fn once(&self) -> Option<IdempotencyKey> {
        let delivery = self.mailed.as_ref()?;
        // The digest does not cover the decision, so that the link cannot be used for a second, different decision.
        let digest = Digest::of_bytes(delivery.as_str().as_bytes());
        let scope = format!("{} link", self.person);
        Some(IdempotencyKey { scope, key: delivery.to_string(), digest })
    }

    /// Returns the creation time; `None` if the link does not contain it.
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

    /// Returns the number that the page of a link shows and that the person types into the form. Programs that follow
    /// links and submit forms by themselves do not type the number.
    pub fn number(token: &str) -> String {
        let digest = Digest::of_parts(&[b"holdshort shown number\n", token.as_bytes()]);
        let [a, b, ..] = digest.as_bytes();
        format!("{:04}", u16::from_be_bytes([*a, *b]) % 10_000)
    }

    /// Returns the claim in a token. Returns `None` if this server did not create the token.
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
