//! Context windows and prices of models, as a workflow defines them. Amounts of money are integers, in millionths of a
//! currency unit. Floating-point numbers are never used. Amounts are rounded up only for display.

use serde::{Deserialize, Serialize};

use crate::json::is_default;
use crate::message::Usage;

/// Key for the prices and the context window of the installation's default model. The default model is used if neither
/// the agent nor the run names a model.
pub const DEFAULT: &str = "default";

/// Number of millionths in one unit of a currency. Also the number of tokens to which a price applies.
const MILLION: u64 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelTerms {
    /// Context window of the model: the maximum number of tokens in a request and its reply together.
    #[serde(default, skip_serializing_if = "is_default")]
    pub window_tokens: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// Price of a million tokens, in millionths of a currency unit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    pub input_per_million: u64,
    pub output_per_million: u64,
    /// Currency code of the price, which has three capital letters.
    pub currency: String,
}

impl Price {
    /// Returns the cost of these tokens at this price.
    pub fn cost(&self, usage: Usage) -> Cost {
        let part = |tokens: u64, price: u64| tokens.saturating_mul(price);
        Cost(
            part(usage.input_tokens, self.input_per_million)
                .saturating_add(part(usage.output_tokens, self.output_per_million)),
        )
    }
}

/// Exact amount of money. An amount is rounded only when it is displayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost(u64);

impl Cost {
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Returns the amount in millionths of the currency unit, rounded up.
    pub fn millionths(self) -> u64 {
        self.0.div_ceil(MILLION)
    }

    /// Returns true if the cost is at least this amount, given in millionths of the currency unit.
    pub fn reaches(self, millionths: u64) -> bool {
        self.0 >= millionths.saturating_mul(MILLION)
    }
}

/// Formats an amount, given in millionths, as a decimal with at least two decimal places: `1.50`, `0.000125`.
pub fn amount(millionths: u64) -> String {
    let digits = format!("{:06}", millionths % MILLION);
    let places = digits.trim_end_matches('0').len().max(2);
    format!("{}.{}", millionths / MILLION, &digits[..places])
}

/// Parses a decimal amount into millionths. `None` if the text is malformed, too large, or has more than six decimal
/// places.
pub fn millionths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_digits(whole) || !is_digits(part) || part.len() > 6 {
        return None;
    }
    let part: u64 = format!("{part:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(MILLION)?.checked_add(part)
}
