//! What a workflow says of models: how much one reads at once, and what its tokens cost. Money is counted in whole
//! millionths of a currency's unit, and rounded up where it is shown; no float ever holds any.

use serde::{Deserialize, Serialize};

use crate::json::is_default;
use crate::message::Usage;

/// Speaks of the model of the installation, where neither agent nor run names one.
pub const DEFAULT: &str = "default";

/// Millionths of a unit: of money, and of tokens that a price is for.
const MILLION: u64 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTerms {
    /// Tokens that it takes in one request, its reply included.
    #[serde(default, skip_serializing_if = "is_default")]
    pub window_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// Of a million tokens, in millionths of the currency's unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input_per_million: u64,
    pub output_per_million: u64,
    /// Three capital letters.
    pub currency: String,
}

impl Price {
    /// What these tokens cost.
    pub fn of(&self, usage: Usage) -> Cost {
        let part = |tokens: u64, price: u64| tokens.saturating_mul(price);
        Cost(
            part(usage.input_tokens, self.input_per_million)
                .saturating_add(part(usage.output_tokens, self.output_per_million)),
        )
    }
}

/// A sum of money as it is counted: exact, and never rounded before it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u64);

impl Cost {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// In millionths of the currency's unit, rounded up.
    pub fn millionths(self) -> u64 {
        self.0.div_ceil(MILLION)
    }

    /// Whether so many millionths are spent.
    pub fn reaches(self, millionths: u64) -> bool {
        self.0 >= millionths.saturating_mul(MILLION)
    }
}

/// Millionths as a decimal with two places at least: `1.50`, `0.000125`.
pub fn amount(millionths: u64) -> String {
    let digits = format!("{:06}", millionths % MILLION);
    let places = digits.trim_end_matches('0').len().max(2);
    format!("{}.{}", millionths / MILLION, &digits[..places])
}

/// A decimal as millionths; `None` where it is none, is finer than a millionth, or too large.
pub fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) || part.len() > 6 {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(MILLION)?.checked_add(part)
}
