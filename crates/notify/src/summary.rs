//! Summary of a review for people outside the server. It contains derived findings only: text that looks like raw
//! customer data is replaced (document 003, parts 4 and 8).

use serde_json::Value;

use crate::limits::SUMMARY_CHARS;
use crate::message::line;

/// Minimum number of digits of a number that is redacted. A number with so many digits may identify an account, a card
/// or a phone, or be a birth date.
const ACCOUNT_DIGITS: usize = 8;

/// Text that replaces an address or a number of a customer.
const REDACTED: &str = "[redacted]";

/// Returns the summary of a review in one line: its title and its findings, or `None` if it has neither. The text to
/// release and the details of the findings are never included.
pub fn summary(payload: &Value) -> Option<String> {
    let title = payload.get("title").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let findings: Vec<&str> = match payload.get("findings") {
        Some(Value::String(text)) => text.lines().collect(),
        // A finding that is not text is a detail. Details are omitted.
        Some(Value::Array(lines)) => lines.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let findings = findings.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    let findings = findings.collect::<Vec<_>>().join("; ");
    let told = match (title, findings.is_empty()) {
        (Some(title), true) => title.to_owned(),
        (Some(title), false) => format!("{title}: {findings}"),
        (None, false) => findings,
        (None, true) => return None,
    };
    // Only the beginning of the text is shown, so only the beginning is redacted.
    let begins: String = told.chars().take(4 * SUMMARY_CHARS).collect();
    let line = line(&redact(&begins), SUMMARY_CHARS);
    (!line.is_empty()).then_some(line)
}

/// Replaces e-mail addresses, and numbers with as many digits as numbers of accounts, cards and phones or birth dates.
/// An amount has a decimal point or thousands separators, so its groups are shorter.
fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.len() - rest.trim_start_matches(|c: char| !c.is_whitespace()).len();
        let is_mail = rest[..word].contains('@');
        let number = number(rest);
        let taken = if is_mail { word } else { number };
        let starts_word = out.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        if taken > 0 && (is_mail || starts_word) {
            let taken_text = &rest[..taken];
            let digits = taken_text.bytes().filter(u8::is_ascii_digit).count();
            out.push_str(if is_mail || digits >= ACCOUNT_DIGITS { REDACTED } else { taken_text });
            rest = &rest[taken..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// Returns the length, in bytes, of the number at the start of a text, such as `DE02 1203 0000`, `+49 170 1234567` or
/// `1980-02-01`. Returns 0 if the text does not start with a number. Groups of digits are separated by one space, `-`
/// or `/`.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let start = match bytes.first() {
        Some(b'+') => 1,
        // The country of an IBAN.
        Some(_) if is_letter(0) && is_letter(1) => 2,
        _ => 0,
    };
    if !is_digit(start) {
        return 0;
    }
    let mut end = start;
    loop {
        while is_digit(end) || (start == 2 && is_letter(end)) {
            end += 1;
        }
        let is_separator = bytes.get(end).is_some_and(|byte| b" -/".contains(byte));
        if !(is_separator && is_digit(end + 1)) {
            return end;
        }
        end += 1;
    }
}
