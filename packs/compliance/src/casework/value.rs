//! Parses the values of cells: amounts in hundredths, timestamps in seconds of UTC, and words from a given list.

use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};

use crate::casework::problem::Code;

/// Parses an amount of money into hundredths. At most twelve digits are allowed before the decimal mark.
pub(crate) fn amount(text: &str) -> Result<i64, Code> {
    const DIGITS: usize = 12;
    let last = text.rfind(['.', ',']);
    let (whole, decimals) = match last {
        None => (text, ""),
        Some(at) => {
            let (mark, behind) = (&text[at..=at], &text[at + 1..]);
            // A single mark before three digits is ambiguous: it may be a thousands separator or a decimal mark.
            if behind.len() == 3 && text.matches(mark).count() == 1 {
                return Err(Code::AmbiguousAmount);
            }
            if behind.len() == 3 { (text, "") } else { (&text[..at], behind) }
        }
    };
    let digits = ungrouped(whole).ok_or(Code::BadAmount)?;
    let is_number = !digits.is_empty() && digits.len() <= DIGITS && decimals.len() <= 2;
    if !is_number || !decimals.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Code::BadAmount);
    }
    let hundredths: i64 = format!("{digits}{decimals:0<2}").parse().map_err(|_| Code::BadAmount)?;
    if hundredths > 0 { Ok(hundredths) } else { Err(Code::BadAmount) }
}

/// Removes thousands separators from an amount. They must all be the same character and at the right positions.
fn ungrouped(text: &str) -> Option<String> {
    let Some(mark) = text.chars().find(|c| !c.is_ascii_digit()) else { return Some(text.to_owned()) };
    if ![',', '.', ' ', '\'', '\u{a0}', '\u{202f}'].contains(&mark) {
        return None;
    }
    let mut groups = text.split(mark);
    let first = groups.next().filter(|group| (1..=3).contains(&group.len()))?;
    let mut digits = first.to_owned();
    for group in groups {
        if group.len() != 3 {
            return None;
        }
        digits.push_str(group);
    }
    digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)
}

/// Parses the timestamp of a transaction into seconds since 1970. A date without a time means 00:00 of that day. A
/// timestamp without an offset is in UTC.
pub(crate) fn time(text: &str) -> Result<i64, Code> {
    let utc = |at: DateTime| at.to_zoned(TimeZone::UTC).map(|at| at.timestamp().as_second());
    if text.len() == 10 {
        return utc(day(text)?.at(0, 0, 0, 0)).map_err(|_| Code::BadDate);
    }
    let (stamp, offset) =
        match text.find(['Z', 'z', '+']).or_else(|| text.get(11..)?.find('-').map(|at| at + 11)) {
            Some(at) => (&text[..at], &text[at..]),
            None => (text, ""),
        };
    let is_formed = matches!(stamp.len(), 16 | 19) && stamp.is_char_boundary(10);
    if !is_formed || !matches!(stamp.get(10..11), Some("T" | " ")) {
        return Err(Code::BadDate);
    }
    let date = day(&stamp[..10])?;
    let part = |from: usize| -> Result<i8, Code> {
        let digits = stamp.get(from..from + 2).filter(|it| it.bytes().all(|byte| byte.is_ascii_digit()));
        digits.and_then(|it| it.parse().ok()).ok_or(Code::BadDate)
    };
    let colons = stamp.get(13..14) == Some(":") && (stamp.len() == 16 || stamp.get(16..17) == Some(":"));
    let (hour, minute) = (part(11)?, part(14)?);
    let second = if stamp.len() == 19 { part(17)? } else { 0 };
    let at = jiff::civil::Time::new(hour, minute, second, 0).map_err(|_| Code::BadDate)?;
    if !colons {
        return Err(Code::BadDate);
    }
    Ok(utc(date.to_datetime(at)).map_err(|_| Code::BadDate)? - i64::from(seconds(offset)?))
}

/// Parses a UTC offset such as `Z`, `+01:00` or `-0530` into seconds.
fn seconds(offset: &str) -> Result<i32, Code> {
    if matches!(offset, "" | "Z" | "z") {
        return Ok(0);
    }
    let digits: String = offset[1..].chars().filter(|c| *c != ':').collect();
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Code::BadDate);
    }
    let (hours, minutes): (i32, i32) =
        (digits[..2].parse().map_err(|_| Code::BadDate)?, digits[2..].parse().map_err(|_| Code::BadDate)?);
    if hours > 14 || minutes > 59 {
        return Err(Code::BadDate);
    }
    let seconds = hours * 3_600 + minutes * 60;
    Ok(if offset.starts_with('-') { -seconds } else { seconds })
}

pub(crate) fn day(text: &str) -> Result<Date, Code> {
    let is_formed = text.len() == 10
        && text
            .bytes()
            .enumerate()
            .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() });
    if !is_formed {
        return Err(Code::BadDate);
    }
    text.parse().map_err(|_| Code::BadDate)
}

/// Returns the UTC day of a timestamp.
pub(crate) fn day_of(at: i64) -> Date {
    jiff::Timestamp::from_second(at).map_or(Date::ZERO, |at| Offset::UTC.to_datetime(at).date())
}

/// Formats an amount in hundredths as `12345.60`.
pub fn money(hundredths: i64) -> String {
    format!("{}.{:02}", hundredths / 100, (hundredths % 100).abs())
}

pub(crate) fn country(text: &str) -> Result<[u8; 2], Code> {
    let letters: [u8; 2] = text.as_bytes().try_into().map_err(|_| Code::BadCountry)?;
    if letters.iter().all(u8::is_ascii_uppercase) { Ok(letters) } else { Err(Code::BadCountry) }
}
