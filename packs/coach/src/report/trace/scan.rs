//! Finds numbers in a text: with signs and units, as times such as `45:12`, as durations such as `1 h 05 min`, and as
//! dates.
//!
//! Skips digits that belong to a name (`VO2`, `Z4`, `zone 2`, `week 3`), and the number of a list item at the start of
//! a line.

use std::ops::Range;

use unicode_general_category::{GeneralCategory, get_general_category};

use super::dates::{self, DateParts};
use super::rounding::Decimal;
use super::unit::Unit;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    None,
    Plus,
    Minus,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// A number in a text: digits with at most one decimal point. `readings` has one entry for each way to read the
    /// number. The first unit follows the number, and the second follows the other number of a range.
    Number { readings: Vec<String>, sign: Sign, units: Vec<Unit> },
    /// A time or a duration in a text, with one entry for each way to read it.
    Times(Vec<(Decimal, Unit)>),
    /// A date in a text, with one entry for each way to read it.
    Days(Vec<DateParts>),
    /// Digits in a text that cannot be looked up: digits of other scripts, fractions that are one character, or too
    /// many digits.
    Odd,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub range: Range<usize>,
    pub form: Form,
}

/// Words that form a name together with a following small whole number, in lower case and singular.
const NAMES: [&str; 16] = [
    "zone", "week", "phase", "step", "stage", "block", "section", "part", "option", "priority", "table",
    "figure", "level", "tier", "point", "no",
];

pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    let mut previous = '\n';
    // End of the last skipped name such as `zone 2`.
    let mut name_ends = None;
    while let Some(c) = text[at..].chars().next() {
        let (end, token) = if c.is_ascii_digit() {
            digits(text, at, previous, &mut name_ends)
        } else if c.is_ascii_uppercase() && !previous.is_alphanumeric() {
            match dates::from_word(text, at) {
                Some((day, end)) => (end, Some(Token { range: at..end, form: Form::Days(vec![day]) })),
                None => (at + 1, None),
            }
        } else {
            let end = at + c.len_utf8();
            let odd = is_odd(c) && !previous.is_alphabetic();
            (end, odd.then_some(Token { range: at..end, form: Form::Odd }))
        };
        if let Some(token) = token {
            match found.last_mut() {
                // Digits of another script and the ASCII digits next to them form one number.
                Some(last) if last.form == Form::Odd && last.range.end == token.range.start => {
                    last.range.end = token.range.end;
                }
                _ => found.push(token),
            }
        }
        previous = text[..end].chars().next_back().unwrap_or('\n');
        at = end;
    }
    share_units(text, &mut found);
    found
}

/// Returns true for a character with a numeric meaning that is not an ASCII digit.
fn is_odd(c: char) -> bool {
    !c.is_ascii()
        && matches!(
            get_general_category(c),
            GeneralCategory::DecimalNumber | GeneralCategory::LetterNumber | GeneralCategory::OtherNumber
        )
}

/// Reads a number in a text that begins with the digit at `at`. Returns its end and its token, or `None` if the number
/// is skipped.
fn digits(text: &str, at: usize, previous: char, name_ends: &mut Option<usize>) -> (usize, Option<Token>) {
    let before = &text[..at];
    if let Some((days, end)) = dates::from_digit(text, at) {
        return (end, Some(Token { range: at..end, form: Form::Days(days) }));
    }
    if let Some((times, end)) = clock(text, at) {
        return (end, Some(Token { range: at..end, form: Form::Times(times) }));
    }
    let (mut end, readings) = number(text, at);
    let written = &text[at..end];
    let is_small = written.len() <= 2 && readings.len() == 1;
    let is_glued = (previous.is_alphabetic() || previous == '_') && !is_times(before);
    let (unit, unit_ends) = unit(text, end);
    if is_small && (is_glued || is_ordinal(text, at, end)) {
        return (end, None);
    }
    if is_small && unit == Unit::None && (follows_name(before) || goes_on_from(before, *name_ends)) {
        *name_ends = Some(end);
        return (end, None);
    }
    if let Some((decimal, unit, end)) = span(text, written, unit, unit_ends) {
        return (end, Some(Token { range: at..end, form: Form::Times(vec![(decimal, unit)]) }));
    }
    let (sign, start) = sign(before);
    let form =
        if readings.is_empty() { Form::Odd } else { Form::Number { readings, sign, units: vec![unit] } };
    // In `80 %` and `45min`, the marked range includes the unit. In `45 minutes`, it is only the number.
    if unit == Unit::Percent && text[..unit_ends].ends_with('%') {
        end = unit_ends;
    }
    (end, Some(Token { range: start..end, form }))
}

/// Returns true if the text before a number ends with an `x` that means "times", as in `4x8`.
fn is_times(before: &str) -> bool {
    let mut back = before.chars().rev();
    matches!(back.next(), Some('x' | 'X')) && back.next().is_none_or(|c| c.is_ascii_digit() || c == ' ')
}

/// Returns true if the digits are a list marker, `1.` or `2)`, at the beginning of a line.
fn is_ordinal(text: &str, at: usize, end: usize) -> bool {
    let rest = &text[end..];
    let mut before =
        text[..at].chars().rev().skip_while(|c| matches!(c, ' ' | '\t' | '#' | '>' | '*' | '-' | '(' | '|'));
    (rest.starts_with(". ") || rest.starts_with(") ")) && before.next().is_none_or(|c| c == '\n')
}

fn follows_name(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\u{a0}', '-', '#']);
    let start = before
        .rfind(|c: char| !c.is_ascii_alphabetic())
        .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
    let word = before[start..].to_ascii_lowercase();
    NAMES.contains(&&*word) || word.strip_suffix('s').is_some_and(|word| NAMES.contains(&word))
}

/// Returns true if the text before a number joins the number to a name, as before the `2` of `zones 1 and 2`.
fn goes_on_from(before: &str, name_ends: Option<usize>) -> bool {
    const JOINS: [&str; 8] = [" and ", " or ", "–", "-", " to ", " & ", "/", " – "];
    name_ends.and_then(|end| before.get(end..)).is_some_and(|gap| JOINS.contains(&gap))
}

/// Returns the sign before a number in a text, and the position of the sign or of the number. A hyphen between two
/// words or numbers is not a sign.
fn sign(before: &str) -> (Sign, usize) {
    let mut back = before.char_indices().rev();
    let Some((at, c)) = back.next() else { return (Sign::None, before.len()) };
    let is_free = back.next().is_none_or(|(_, c)| {
        c.is_whitespace() || matches!(c, '(' | '[' | '"' | '\'' | '=' | ':' | '|' | '≈' | '~' | ',')
    });
    match c {
        '-' | '−' | '–' if is_free => (Sign::Minus, at),
        '+' if is_free => (Sign::Plus, at),
        _ => (Sign::None, before.len()),
    }
}

/// Parses a written time such as `45:12`, `1:05:30`, `4:35.2` and `1:05 h`. Returns the ways to read the time, and its
/// end in the text.
fn clock(text: &str, at: usize) -> Option<(Vec<(Decimal, Unit)>, usize)> {
    let digits_at = |from: usize| {
        let end =
            text[from..].bytes().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |len| from + len);
        (&text[from..end], end)
    };
    let (first, end) = digits_at(at);
    if first.len() > 4 {
        return None;
    }
    let pair = |end: usize| -> Option<(u128, usize)> {
        let (digits, after) = text[end..].starts_with(':').then(|| digits_at(end + 1))?;
        let value: u128 = digits.parse().ok()?;
        (digits.len() == 2 && value < 60).then_some((value, after))
    };
    let first: u128 = first.parse().ok()?;
    let (second, end) = pair(end)?;
    let Some((third, end)) = pair(end) else {
        let (whole, end) = decimals(text, end, first * 60 + second);
        if text[end..].starts_with(':') {
            return None;
        }
        let (unit, _) = unit(text, end);
        let minutes = (Decimal { digits: first * 60 + second, decimals: 0 }, Unit::Minute);
        return Some(match (unit, whole.decimals) {
            (Unit::Hour, 0) => (vec![minutes], end),
            (Unit::Minute, _) => (vec![(whole, Unit::Second)], end),
            (_, 0) => (vec![(whole, Unit::Second), minutes], end),
            _ => (vec![(whole, Unit::Second)], end),
        });
    };
    let (whole, end) = decimals(text, end, first * 3600 + second * 60 + third);
    (!text[end..].starts_with(':')).then_some((vec![(whole, Unit::Second)], end))
}

/// Parses the decimals of the seconds in a written time such as `4:35.2`.
fn decimals(text: &str, end: usize, whole: u128) -> (Decimal, usize) {
    let rest = &text[end..];
    let count = rest.strip_prefix('.').map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    match rest
        .get(1..=count)
        .filter(|_| (1..=3).contains(&count))
        .and_then(|digits| digits.parse::<u128>().ok())
    {
        Some(part) => {
            let scale = [1, 10, 100, 1000][count];
            (Decimal { digits: whole * scale + part, decimals: count }, end + 1 + count)
        }
        None => (Decimal { digits: whole, decimals: 0 }, end),
    }
}

/// Parses a written duration such as `1 h 05 min`, `3h25m10s` and `45 min 30 s`. The result is in the smallest of its
/// units: `1 h 30 min` gives 90 minutes.
fn span(text: &str, first: &str, unit: Unit, end: usize) -> Option<(Decimal, Unit, usize)> {
    let mut sum = first.parse::<u128>().ok().filter(|value| *value < 100_000)?;
    let (mut last, mut end) = (unit, end);
    loop {
        let smaller = match last {
            Unit::Hour => [Unit::Minute, Unit::None, Unit::Metre].as_slice(),
            Unit::Minute => &[Unit::Second],
            _ => break,
        };
        let from = end + text[end..].bytes().take_while(|byte| *byte == b' ').count().min(1);
        let digits = text[from..].bytes().take_while(u8::is_ascii_digit).count();
        let Some(value) =
            text[from..from + digits].parse::<u128>().ok().filter(|value| digits <= 2 && *value < 60)
        else {
            break;
        };
        let (mut next, mut next_ends) = self::unit(text, from + digits);
        // Minutes after hours may have no unit, or the unit `m`: `1h05` and `1h 05m`.
        if last == Unit::Hour && (next == Unit::Metre || next == Unit::None && from == end && digits == 2) {
            (next, next_ends) = (Unit::Minute, if next == Unit::Metre { next_ends } else { from + digits });
        } else if !smaller.contains(&next) || next == Unit::None {
            break;
        }
        sum = sum * 60 + value;
        (last, end) = (next, next_ends);
    }
    (last != unit).then_some((Decimal { digits: sum, decimals: 0 }, last, end))
}

/// Returns the word after a number in a text, even if the word is not a known unit.
pub(crate) fn word_behind(text: &str, end: usize) -> &str {
    let rest = &text[end..];
    let rest = rest.trim_start_matches([' ', '\u{a0}', '\u{202f}', '\u{2009}', '-']);
    let length = rest.find(|c: char| !c.is_alphabetic() && c != '°').unwrap_or(rest.len());
    &rest[..length]
}

/// Returns the unit after a number in a text, and the end of the unit.
fn unit(text: &str, end: usize) -> (Unit, usize) {
    let rest = &text[end..];
    let gap = rest.chars().next().filter(|c| matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '-'));
    let from = end + gap.map_or(0, char::len_utf8);
    let rest = &text[from..];
    if rest.starts_with('%') {
        return (Unit::Percent, from + 1);
    }
    if gap == Some(' ') && rest.starts_with("per cent") {
        return (Unit::Percent, from + "per cent".len());
    }
    let length = rest.find(|c: char| !c.is_alphabetic() && c != '°').unwrap_or(rest.len());
    match Unit::from_word(&rest[..length]) {
        // `10 K` does not mean ten thousand.
        Unit::Thousand if gap.is_some() => (Unit::None, end),
        Unit::None => (Unit::None, end),
        unit => (unit, from + length),
    }
}

/// Parses a number in a text. Returns its end, and the ways to read the number. There are none if the number is too
/// long or malformed.
fn number(text: &str, at: usize) -> (usize, Vec<String>) {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let run = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first_ends = run(at);
    // Digits in groups of three with the same separator.
    let mut grouped = None;
    for separator in [",", "\u{a0}", "\u{202f}", "\u{2009}"] {
        let (mut end, mut digits) = (first_ends, text[at..first_ends].to_owned());
        while text[end..].starts_with(separator) && run(end + separator.len()) == end + separator.len() + 3 {
            let from = end + separator.len();
            digits.push_str(&text[from..from + 3]);
            end = from + 3;
        }
        if end > first_ends && first_ends - at <= 3 {
            grouped = Some((end, digits));
            break;
        }
    }
    let (mut end, mut readings) = match grouped {
        Some((end, digits)) => {
            let mut readings = vec![digits];
            if end == first_ends + 4 && bytes[first_ends] == b',' {
                readings.push(text[at..end].replace(',', "."));
            }
            (end, readings)
        }
        None if bytes.get(first_ends) == Some(&b',') && digit(first_ends + 1) => {
            let end = run(first_ends + 1);
            // `1,2,3` is a list.
            if bytes.get(end) == Some(&b',') && digit(end + 1) || at > 0 && bytes[at - 1] == b',' {
                (first_ends, vec![text[at..first_ends].to_owned()])
            } else {
                (end, vec![text[at..end].replace(',', ".")])
            }
        }
        None => (first_ends, vec![text[at..first_ends].to_owned()]),
    };
    if bytes.get(end) == Some(&b'.') && digit(end + 1) {
        let from = end;
        end = run(end + 1);
        readings.retain(|reading| !reading.contains('.'));
        for reading in &mut readings {
            reading.push_str(&text[from..end]);
        }
    }
    // `1.2.3` is not a number. A number with an exponent is never compared.
    while matches!(bytes.get(end), Some(b'.')) && digit(end + 1) {
        end = run(end + 1);
        readings.clear();
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digit(end + 1 + sign) {
            end = run(end + 1 + sign);
            readings.clear();
        }
    }
    readings.retain(|reading| Decimal::read(reading).is_some());
    (end, readings)
}

/// Gives the first number of a range the unit of the second: `2.5–3.0 km`.
fn share_units(text: &str, tokens: &mut [Token]) {
    const JOINS: [&str; 9] = ["-", "–", " - ", " – ", " to ", " and ", " or ", "/", " vs "];
    for at in (1..tokens.len()).rev() {
        let (before, from) = tokens.split_at_mut(at);
        let (Some(first), second) = (before.last_mut(), &from[0]) else { continue };
        let gap = text.get(first.range.end..second.range.start).unwrap_or_default();
        if let (Form::Number { units, .. }, Form::Number { units: of_second, .. }) =
            (&mut first.form, &second.form)
            && *units == [Unit::None]
            && JOINS.contains(&gap)
        {
            units.extend(of_second.iter().filter(|unit| **unit != Unit::None));
        }
    }
}
