//! Summary of a review for people who may not see the data on the server. The summary contains only findings that are
//! derived from the data. Text that looks like original customer data is replaced (document 003, parts 4 and 8).

use serde_json::Value;

use crate::limits::SUMMARY_CHARS;
use crate::message::line;

/// Minimum number of digits of a number that is replaced in a summary. Such a number may be an account, a card, a phone
/// number, or a birth date.
const ACCOUNT_DIGITS: usize = 8;

/// Characters that may separate groups of digits in one number of a summary, including no-break spaces and the dashes
/// that word processors insert.
const SEPARATORS: [char; 9] = [' ', '-', '/', '.', ')', '\u{a0}', '\u{202f}', '\u{2011}', '\u{2013}'];

/// Text in a summary that replaces an address or a number of a customer.
const REDACTED: &str = "[redacted]";

/// Returns the summary of a review in one line: its title and its findings. Returns `None` if the payload has neither a
/// title nor findings. The summary contains neither the text that is to be released nor the details of the findings.
pub fn summary(payload: &Value) -> Option<String> {
    let title = payload.get("title").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    let findings: Vec<&str> = match payload.get("findings") {
        Some(Value::String(text)) => text.lines().collect(),
        // A finding that is not a text is a detail, and details are left out.
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
    // Only the beginning of the text is shown. Therefore only the beginning is redacted.
    let begins: String = told.chars().take(4 * SUMMARY_CHARS).collect();
    let line = line(&redact(&begins), SUMMARY_CHARS);
    (!line.is_empty()).then_some(line)
}

/// Replaces e-mail addresses in a summary, and long numbers that may be an account, a card, a phone number, or a birth
/// date. An amount of money with decimals or thousands separators is kept.
fn redact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = rest.len() - rest.trim_start_matches(|c: char| !c.is_whitespace()).len();
        let is_mail = rest[..word].contains('@');
        let starts_word = out.chars().next_back().is_none_or(|c| !c.is_alphanumeric());
        let number = number(rest, starts_word);
        let taken = if is_mail { word } else { number };
        if taken > 0 {
            let taken_text = &rest[..taken];
            let digits = taken_text.bytes().filter(u8::is_ascii_digit).count();
            let is_raw = is_mail || (digits >= ACCOUNT_DIGITS && !is_amount(taken_text));
            out.push_str(if is_raw { REDACTED } else { taken_text });
            rest = &rest[taken..];
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
        }
    }
    out
}

/// Returns the length, in bytes, of the number at the start of a text, such as `DE02 1203 0000`, `+49 170 1234567` or
/// `01.02.1980`. Returns 0 if the text does not begin with a number. Between two groups of digits there may be one or
/// two [`SEPARATORS`], as in `(0170) 1234567`. A number at the start of a word may also begin with the two letters of
/// an IBAN's country.
fn number(text: &str, starts_word: bool) -> usize {
    let bytes = text.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let start = match bytes.first() {
        Some(b'+') => 1,
        // The country of an IBAN.
        Some(_) if starts_word && is_letter(0) && is_letter(1) => 2,
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
        let separators = text[end..].chars().take(2).take_while(|c| SEPARATORS.contains(c));
        let separator: usize = separators.map(char::len_utf8).sum();
        if separator == 0 || !is_digit(end + separator) {
            return end;
        }
        end += separator;
    }
}

/// Returns true if a number in a summary is an amount of money: a number with one decimal point and one or two
/// decimals, or groups of three digits that are separated by points.
fn is_amount(number: &str) -> bool {
    let is_digits = |group: &&str| group.bytes().all(|byte| byte.is_ascii_digit());
    let groups: Vec<&str> = number.split('.').collect();
    match &groups[..] {
        [whole, decimals] if decimals.len() <= 2 => groups.iter().all(is_digits) && !whole.is_empty(),
        [first, thousands @ ..] => {
            !thousands.is_empty()
                && groups.iter().all(is_digits)
                && thousands.iter().all(|group| group.len() == 3)
                && (1..=3).contains(&first.len())
                && !first.starts_with('0')
        }
        [] => false,
    }
}
