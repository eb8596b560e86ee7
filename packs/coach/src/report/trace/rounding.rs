//! Compares a decimal number in a text with the rounded form of a value.

use crate::report::limits::DIGITS;

const POWERS: [f64; DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
    1e19, 1e20, 1e21, 1e22, 1e23, 1e24,
];

/// Absolute value of a number in a text: its digits, and the number of digits after the decimal point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decimal {
    pub digits: u128,
    pub decimals: usize,
}

impl Decimal {
    /// Parses ASCII digits with at most one decimal point. Returns `None` for more than [`DIGITS`] digits.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        if whole.len() + rest.len() > DIGITS {
            return None;
        }
        Some(Self { digits: format!("{whole}{rest}").parse().ok()?, decimals: rest.len() })
    }

    #[expect(clippy::cast_precision_loss, reason = "the digits are compared exactly afterwards")]
    pub(crate) fn value(self) -> f64 {
        self.digits as f64 / POWERS[self.decimals.min(DIGITS)]
    }

    /// Returns half of the last written decimal place of the number: 0.05 for `1.2`.
    pub(crate) fn half(self) -> f64 {
        0.5 / POWERS[self.decimals.min(DIGITS)]
    }

    /// Returns true if a non-negative value rounds to the number in a text, half up or half to even. The value is first
    /// rounded to 15 significant digits, so that 0.285 · 100 is exactly 28.5.
    pub(crate) fn is_rounding_of(self, value: f64) -> bool {
        let text = format!("{value:.14e}");
        let Some((mantissa, power)) = text.split_once('e') else { return false };
        let digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).map(|byte| byte - b'0').collect();
        let (Ok(power), Ok(decimals)) = (power.parse::<i32>(), i32::try_from(self.decimals)) else {
            return false;
        };
        // Number of digits after rounding.
        let Ok(kept) = usize::try_from(power + 1 + decimals) else {
            return self.digits == 0;
        };
        if kept > DIGITS + 2 {
            return false;
        }
        let kept_digits = digits.iter().copied().chain(std::iter::repeat(0)).take(kept);
        let down = kept_digits.fold(0_u128, |sum, digit| sum * 10 + u128::from(digit));
        let rest = digits.get(kept..).unwrap_or_default();
        let beyond_half = rest.first().is_some_and(|first| *first > 5)
            || rest.first() == Some(&5) && rest[1..].iter().any(|digit| *digit > 0);
        let is_half = rest.first() == Some(&5) && !beyond_half;
        match (is_half, beyond_half) {
            (true, _) => self.digits == down + 1 || self.digits == down && down % 2 == 0,
            (false, true) => self.digits == down + 1,
            (false, false) => self.digits == down,
        }
    }
}
