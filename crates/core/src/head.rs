//! The head of a journal: where the chain over all its events ends, and what a person writes down of it.
//!
//! Beside the chain of each stream there is one over all events in the order of their positions:
//! `hash(n) = SHA-256(hash(n - 1) ‖ hash of the nth event)`, from 32 zero bytes. An event's hash covers its
//! stream up to there, so a head covers every event before it. Whoever holds a head of yesterday can tell
//! whether today's journal is its continuation.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Digits of the hash that are printed: 96 bits. Enough that no second journal is found for them, few enough to
/// be written down.
pub const DIGITS: usize = 24;
/// Of a whole hash.
const ALL_DIGITS: usize = 64;

/// Where the chain over all events stands after the first `events` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub events: u64,
    pub hash: Digest,
}

impl Head {
    /// Of an empty journal.
    pub const START: Self = Self { events: 0, hash: Digest::ZERO };

    /// The head after one more event, by that event's hash in the chain of its stream.
    #[must_use]
    pub fn then(&self, event: &Digest) -> Self {
        let hash = Digest::of_parts(&[self.hash.as_bytes(), event.as_bytes()]);
        Self { events: self.events + 1, hash }
    }
}

/// As it is written down: `1042:3f2a91b0c4d5e6f708192a3b`.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.events, &self.hash.to_string()[..DIGITS])
    }
}

/// What somebody noted of a journal: the number of events, and the first digits of the hash over them. Of a checkpoint it
/// is the root of the tree over them, as `1042:root:` and all its digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Noted {
    pub events: u64,
    is_root: bool,
    /// Lower-case hexadecimal; at least [`DIGITS`], at most all of them.
    digits: String,
}

impl Noted {
    /// What a checkpoint says.
    pub fn root(events: u64, root: &Digest) -> Self {
        Self { events, is_root: true, digits: root.to_string() }
    }

    /// Whether the first events of a journal, whose head and root these are, are those that were noted.
    pub fn is(&self, head: &Head, root: &Digest) -> bool {
        let hash = if self.is_root { root } else { &head.hash };
        self.events == head.events && hash.to_string().starts_with(&self.digits)
    }
}

impl fmt::Display for Noted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = if self.is_root { ROOT } else { "" };
        write!(f, "{}:{root}{}", self.events, self.digits)
    }
}

/// What stands before the digits of a root.
const ROOT: &str = "root:";

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a head: a number of events, a colon, and {DIGITS} to {ALL_DIGITS} hexadecimal digits, as `holdshort audit head` prints it"
)]
pub struct Malformed;

impl FromStr for Noted {
    type Err = Malformed;

    fn from_str(text: &str) -> Result<Self, Malformed> {
        let (events, digits) = text.split_once(':').ok_or(Malformed)?;
        let (is_root, digits) = match digits.strip_prefix(ROOT) {
            Some(digits) => (true, digits),
            None => (false, digits),
        };
        let least = if is_root { ALL_DIGITS } else { DIGITS };
        let is_number = !events.is_empty() && events.bytes().all(|byte| byte.is_ascii_digit());
        let is_hash = (least..=ALL_DIGITS).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_number || !is_hash {
            return Err(Malformed);
        }
        let events = events.parse().map_err(|_| Malformed)?;
        Ok(Self { events, is_root, digits: digits.to_ascii_lowercase() })
    }
}
