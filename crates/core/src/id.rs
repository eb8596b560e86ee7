//! Ids. Each id has a prefix for its type. Ids sort by the time of their creation, and depend only on a seed and on
//! their number.
//!
//! An id such as `run_01k…` has a prefix and 26 characters of Crockford base 32, which encode 48 bits of milliseconds
//! and 80 bits drawn from the seed. In an id that a run creates, the first 16 of the 80 bits are the position of the id
//! in the run. This module reads neither a clock nor a random source: callers pass the [`Seed`] and the time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest;
use crate::time::Timestamp;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const LENGTH: usize = 26;
/// Number of characters of an id that encode the milliseconds.
const OF_TIME: usize = 10;

/// Seed of 128 bits that cannot be guessed. A seed is drawn for each input, outside of this crate. All ids and salts
/// that the input needs are derived from the seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub [u8; 16]);

/// Generates the ids and salts that one input needs, one after the other, from the seed of the input.
#[derive(Debug)]
pub struct Draw {
    seed: Seed,
    now: Timestamp,
    n: u32,
}

impl Draw {
    pub fn new(seed: Seed, now: Timestamp) -> Self {
        Self { seed, now, n: 0 }
    }

    /// Returns the next 16 bytes, as the salt of an event's content. Ids do not reveal bits of a salt.
    pub fn salt(&mut self) -> [u8; 16] {
        let hash = self.next(b"holdshort.salt.v1");
        let mut salt = [0; 16];
        salt.copy_from_slice(&hash[..16]);
        salt
    }

    /// Returns the next id of type `I`.
    pub fn id<I: Id>(&mut self) -> I {
        let drawn = self.next(b"holdshort.id.v1");
        let mut random = [0; 10];
        random.copy_from_slice(&drawn[..10]);
        self.made(random)
    }

    /// Returns the next id of type `I`. Of several ids of the same millisecond, ids with a higher `place` sort later.
    pub fn id_at<I: Id>(&mut self, place: u16) -> I {
        let drawn = self.next(b"holdshort.id.v1");
        let mut random = [0; 10];
        random[..2].copy_from_slice(&place.to_be_bytes());
        random[2..].copy_from_slice(&drawn[..8]);
        self.made(random)
    }

    fn made<I: Id>(&self, random: [u8; 10]) -> I {
        let mut bits = u128::from(self.now.as_millis().unsigned_abs() & 0xffff_ffff_ffff) << 80;
        for (i, byte) in random.iter().enumerate() {
            bits |= u128::from(*byte) << (72 - 8 * i);
        }
        let mut text = [0_u8; LENGTH];
        for (i, slot) in text.iter_mut().enumerate() {
            *slot = ALPHABET[((bits >> (5 * (LENGTH - 1 - i))) & 31) as usize];
        }
        let text = std::str::from_utf8(&text).expect("the alphabet is ASCII");
        I::from_text(format!("{}{text}", I::PREFIX))
    }

    fn next(&mut self, purpose: &[u8]) -> [u8; 32] {
        let n = self.n;
        self.n += 1;
        digest::sha256_parts(&[purpose, &self.seed.0, &n.to_be_bytes()])
    }
}

/// Operations of every type of id.
pub trait Id: Sized {
    const PREFIX: &'static str;
    fn from_text(text: String) -> Self;
    fn text(&self) -> &str;

    /// Returns the time at which the id was created.
    fn drawn_at(&self) -> Timestamp {
        let digits = self.text().bytes().skip(Self::PREFIX.len()).take(OF_TIME);
        let value = |digit: u8| {
            ALPHABET.iter().zip(0_i64..).find(|(each, _)| **each == digit).map_or(0, |(_, value)| value)
        };
        Timestamp::from_millis(digits.fold(0, |ms, digit| 32 * ms + value(digit)))
    }
}

/// Error returned when a text is not an id of the expected type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id of the form {prefix}…")]
pub struct Malformed {
    pub text: String,
    pub prefix: &'static str,
}

fn check(text: &str, prefix: &'static str) -> Result<(), Malformed> {
    let ok = text
        .strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == LENGTH && rest.bytes().all(|b| ALPHABET.contains(&b)));
    if ok { Ok(()) } else { Err(Malformed { text: text.chars().take(80).collect(), prefix }) }
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Id for $name {
            const PREFIX: &'static str = $prefix;
            fn from_text(text: String) -> Self {
                Self(text)
            }
            fn text(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = Malformed;
            fn from_str(text: &str) -> Result<Self, Malformed> {
                check(text, $prefix)?;
                Ok(Self(text.to_owned()))
            }
        }

        impl TryFrom<String> for $name {
            type Error = Malformed;
            fn try_from(text: String) -> Result<Self, Malformed> {
                check(&text, $prefix)?;
                Ok(Self(text))
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }
    };
}

id!(
    /// Id of a run, which is one execution of a workflow.
    RunId,
    "run_"
);
id!(
    /// Id of a session: a conversation with a person.
    SessionId,
    "ses_"
);
id!(
    /// Id of an interrupt, which is a pause of a run until a person decides.
    InterruptId,
    "int_"
);
id!(
    /// Id of a grant, which is an approval that also allows later calls.
    GrantId,
    "gra_"
);
id!(
    /// Id of a delivery, which is one notification about one event over one channel.
    DeliveryId,
    "dlv_"
);
id!(
    /// Id of a webhook that was registered over the API.
    WebhookId,
    "whk_"
);
id!(
    /// Id of a browser that receives push notifications for a person.
    PushId,
    "psh_"
);
id!(
    /// Id of the key of an agent or service. The id of a key is not secret.
    KeyId,
    "key_"
);

/// Stream to which an event belongs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StreamId {
    Run(RunId),
    Session(SessionId),
    System,
}

impl StreamId {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Run(id) => id.as_str(),
            Self::Session(id) => id.as_str(),
            Self::System => "sys",
        }
    }
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for StreamId {
    type Err = Malformed;
    fn from_str(text: &str) -> Result<Self, Malformed> {
        if text == "sys" {
            Ok(Self::System)
        } else if text.starts_with(SessionId::PREFIX) {
            Ok(Self::Session(text.parse()?))
        } else {
            Ok(Self::Run(text.parse()?))
        }
    }
}

impl TryFrom<String> for StreamId {
    type Error = Malformed;
    fn try_from(text: String) -> Result<Self, Malformed> {
        text.parse()
    }
}

impl From<StreamId> for String {
    fn from(id: StreamId) -> Self {
        id.as_str().to_owned()
    }
}
