//! Ids in the spelling of the source document. Each id can be converted to an id of Holdshort and back, so no mapping
//! is stored.

use std::fmt;
use std::str::FromStr;

use holdshort_core::id::InterruptId;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

const OURS: &str = "int_";
const THEIRS: &str = "REV-";

/// Id of a review in the spelling that clients know: `REV-01K6F…` is the interrupt id `int_01k6f…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReviewId(pub(super) InterruptId);

impl fmt::Display for ReviewId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.0.as_str();
        write!(f, "{THEIRS}{}", id.strip_prefix(OURS).unwrap_or(id).to_ascii_uppercase())
    }
}

impl FromStr for ReviewId {
    type Err = holdshort_core::id::Malformed;

    /// Accepts both spellings of a review's id: `REV-…` and `int_…`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let ours = text.strip_prefix(THEIRS).map(|rest| format!("{OURS}{}", rest.to_ascii_lowercase()));
        ours.as_deref().unwrap_or(text).parse().map(Self)
    }
}

impl<'de> Deserialize<'de> for ReviewId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|_| {
            D::Error::custom("is not the id of a review such as `REV-01K6F0000000000000000000CC`")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_review_is_an_interrupt_under_another_name() {
        let ours: InterruptId = "int_01k6f0000000000000000000cc".parse().unwrap();
        let theirs = ReviewId(ours.clone()).to_string();
        assert_eq!(theirs, "REV-01K6F0000000000000000000CC");
        for text in [theirs.as_str(), ours.as_str()] {
            assert_eq!(text.parse(), Ok(ReviewId(ours.clone())), "{text}");
        }
        for text in ["REV-1", "REV-", "", "run_01k6f0000000000000000000cc"] {
            assert!(text.parse::<ReviewId>().is_err(), "{text}");
        }
    }
}
