//! Formats numbers. The text is the same on every machine, because it depends on no logarithm and no locale.

/// Returns the power of ten of a value's first significant digit.
pub(crate) fn exponent(value: f64) -> i32 {
    format!("{value:e}").split_once('e').and_then(|(_, power)| power.parse().ok()).unwrap_or(0)
}

/// Formats a value of the report. A value in `s` becomes a duration. Any other value gets four significant digits, or
/// all digits of a longer whole part, in groups of three.
pub(crate) fn with_unit(value: f64, unit: &str) -> String {
    if unit == "s" { duration(value) } else { number(value) }
}

pub(crate) fn number(value: f64) -> String {
    let power = exponent(value);
    let decimals = usize::try_from(3 - power).unwrap_or(0).min(6);
    trimmed(fixed(value, decimals))
}

/// Formats a value with `decimals` decimals. Very large and very small values are written in powers of ten.
pub(crate) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return "no number".to_owned();
    }
    let power = exponent(value);
    if value != 0.0 && !(-6..=9).contains(&power) {
        return minus(&format!("{:e}", round_to_four(value)));
    }
    let text = format!("{:.decimals$}", value.abs());
    let (whole, rest) = text.split_once('.').map_or((&*text, None), |(whole, rest)| (whole, Some(rest)));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        out.push('−');
    }
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(rest) = rest {
        out.push('.');
        out.push_str(rest);
    }
    out
}

fn round_to_four(value: f64) -> f64 {
    format!("{value:.3e}").parse().unwrap_or(value)
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

fn trimmed(text: String) -> String {
    if text.contains('e') || !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Formats seconds as `h:mm:ss`, or as `m:ss` below an hour.
pub(crate) fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds.abs() >= 1e9 {
        return format!("{} s", number(seconds));
    }
    let whole: u64 = format!("{:.0}", seconds.abs()).parse().unwrap_or(0);
    let sign = if seconds < 0.0 && whole > 0 { "−" } else { "" };
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{sign}{hours}:{minutes:02}:{rest:02}")
    } else {
        format!("{sign}{minutes}:{rest:02}")
    }
}

/// Formats a coordinate of a drawing with one decimal, which is a tenth of a pixel.
pub(crate) fn pixel(value: f64) -> String {
    let text = trimmed(format!("{value:.1}"));
    if text == "-0" { "0".to_owned() } else { text }
}
