//! The head of a journal: the last hash of a chain over all events, with few enough digits to write down.
//!
//! Each stream has its own chain. The chain of the whole journal contains all events in the order of their positions.
//! The chain of the journal begins with 32 zero bytes: `hash(n) = SHA-256(hash(n - 1) ‖ hash of the nth event)`. The
//! hash of an event depends on all earlier events of its stream. A head therefore depends on all events before it. A
//! person who wrote down yesterday's head can verify that today's journal still contains the same events up to it.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// Number of digits of a journal head's hash that are printed. 96 bits are enough to prevent a collision, and short
/// enough to write down.
pub const DIGITS: usize = 24;
/// Number of hexadecimal digits of a complete hash.
const ALL_DIGITS: usize = 64;

/// Head of a journal: the end of the hash chain over the first `events` events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub events: u64,
    pub hash: Digest,
}

impl Head {
    /// Head of an empty journal.
    pub const START: Self = Self { events: 0, hash: Digest::ZERO };

    /// Returns the head of the journal after one more event. `event` is the hash of the added event in the chain of its
    /// stream.
    #[must_use]
    pub fn then(&self, event: &Digest) -> Self {
        let hash = Digest::of_parts(&[self.hash.as_bytes(), event.as_bytes()]);
        Self { events: self.events + 1, hash }
    }
}

/// Formats the head in its short form, such as `1042:3f2a91b0c4d5e6f708192a3b`.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.events, &self.hash.to_string()[..DIGITS])
    }
}

/// Head of a journal that a person wrote down: the number of events, and the first digits of the hash over these
/// events. For a checkpoint, a person writes down the root of the tree instead of the hash: `1042:root:` and all digits
/// of the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadNote {
    pub events: u64,
    is_root: bool,
    /// Lower-case hexadecimal digits of the noted hash or root. A note has at least [`DIGITS`] digits, and at most the
    /// digits of a complete hash.
    digits: String,
}

impl HeadNote {
    /// Returns the note that a person writes down for a checkpoint with this root of the journal's tree.
    pub fn root(events: u64, root: &Digest) -> Self {
        Self { events, is_root: true, digits: root.to_string() }
    }

    /// Returns true if the noted digits match `head` or `root`. The caller must compute `head` and `root` over the
    /// number of events that the note states.
    pub fn is(&self, head: &Head, root: &Digest) -> bool {
        let hash = if self.is_root { root } else { &head.hash };
        self.events == head.events && hash.to_string().starts_with(&self.digits)
    }
}

impl fmt::Display for HeadNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = if self.is_root { ROOT } else { "" };
        write!(f, "{}:{root}{}", self.events, self.digits)
    }
}

/// Prefix in a [`HeadNote`] whose digits are the root of the tree instead of the hash of the chain.
const ROOT: &str = "root:";

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not the head of a journal: write a number of events, a colon, and {DIGITS} to {ALL_DIGITS} hexadecimal digits, as \
     `holdshort audit head` prints it"
)]
pub struct Malformed;

impl FromStr for HeadNote {
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
