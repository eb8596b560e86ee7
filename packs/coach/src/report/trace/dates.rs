//! Parses written dates: `2026-03-12`, `12.03.2026`, `12 March 2026`, `Mar 12`, `March 2026`.

use std::collections::BTreeSet;

use jiff::civil::Date;

/// A date that may be incomplete, such as a month and a year.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DateParts {
    pub year: Option<i16>,
    pub month: i8,
    pub day: Option<i8>,
}

impl DateParts {
    pub(crate) fn date(self) -> Option<Date> {
        Date::new(self.year?, self.month, self.day?).ok()
    }

    pub(crate) fn is_in(self, days: &BTreeSet<Date>) -> bool {
        let (Some(first), Some(last)) = (days.first(), days.last()) else { return false };
        let years = self.year.map_or(first.year()..=last.year(), |year| year..=year);
        years.into_iter().any(|year| match self.day {
            Some(day) => Date::new(year, self.month, day).is_ok_and(|day| days.contains(&day)),
            None => Date::new(year, self.month, 1)
                .is_ok_and(|first| days.range(first..=first.last_of_month()).next().is_some()),
        })
    }

    fn is_real(self) -> bool {
        Date::new(self.year.unwrap_or(2000), self.month, self.day.unwrap_or(1)).is_ok()
    }
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Returns the number of a month (1 to 12) from its capitalized English name or the first three letters of this name.
fn month(word: &str) -> Option<i8> {
    if !word.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let at = MONTHS.iter().position(|name| {
        *name == word || word.len() == 3 && name.starts_with(&word) || word == "sept" && *name == "september"
    })?;
    i8::try_from(at + 1).ok()
}

/// Cursor that reads a date in a text from left to right.
#[derive(Clone, Copy)]
struct Rest<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Rest<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn digits(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn letters(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn take(&mut self, any: &[&str]) -> bool {
        let rest = self.rest();
        let taken = any.iter().find(|text| rest.starts_with(**text));
        self.at += taken.map_or(0, |text| text.len());
        taken.is_some()
    }

    fn spaces(&mut self) -> bool {
        let mut any = false;
        while self.take(&[" ", "\u{a0}", "\u{202f}", "\n"]) {
            any = true;
        }
        any
    }

    /// Reads the day of a written date: one or two digits with a following `st`, `nd`, `rd`, `th` or full stop.
    fn day(&mut self) -> Option<i8> {
        let digits = self.digits();
        let _ = self.take(&["st", "nd", "rd", "th", "."]);
        if digits.is_empty() || digits.len() > 2 { None } else { digits.parse().ok() }
    }

    /// Reads the month of a written date, with the full stop of an abbreviation.
    fn month(&mut self) -> Option<i8> {
        let word = self.letters();
        let month = month(word)?;
        let mut dotted = *self;
        if word.len() < 5 && dotted.take(&["."]) && dotted.rest().starts_with([' ', '\u{a0}']) {
            *self = dotted;
        }
        Some(month)
    }

    /// Reads the year of a written date, after a month or a day. Returns `None` if no year follows.
    fn year(&mut self) -> Option<i16> {
        let mut ahead = *self;
        let _ = ahead.take(&[","]);
        if !ahead.spaces() {
            return None;
        }
        let digits = ahead.digits();
        let year =
            (digits.len() == 4 && !ahead.rest().starts_with([':', '%'])).then(|| digits.parse().ok())??;
        *self = ahead;
        (1900..2200).contains(&year).then_some(year)
    }
}

/// Parses a date in a text that begins with the digit at `at`. Returns the possible dates, and the end of the date in
/// the text.
pub(crate) fn from_digit(text: &str, at: usize) -> Option<(Vec<DateParts>, usize)> {
    in_digits(text, at).or_else(|| day_first(text, at))
}

fn in_digits(text: &str, at: usize) -> Option<(Vec<DateParts>, usize)> {
    let mut rest = Rest { text, at };
    let first = rest.digits();
    let separator = ["-", "/", "."].into_iter().find(|separator| rest.rest().starts_with(*separator))?;
    rest.at += 1;
    let second = rest.digits();
    if second.len() > 2 || second.is_empty() {
        return None;
    }
    let month_ends = rest.at;
    let third = if rest.take(&[separator]) { rest.digits() } else { "" };
    let number = |text: &str| text.parse::<i8>().ok();
    let readings = if first.len() == 4 && !third.is_empty() && third.len() <= 2 {
        vec![DateParts { year: first.parse().ok(), month: number(second)?, day: Some(number(third)?) }]
    } else if first.len() == 4 && second.len() == 2 && separator == "-" {
        rest.at = month_ends;
        vec![DateParts { year: first.parse().ok(), month: number(second)?, day: None }]
    } else if first.len() <= 2 && third.len() == 4 && separator != "-" {
        let (first, second) = (number(first)?, number(second)?);
        let year = third.parse().ok();
        vec![
            DateParts { year, month: second, day: Some(first) },
            DateParts { year, month: first, day: Some(second) },
        ]
    } else {
        return None;
    };
    let readings: Vec<DateParts> = readings.into_iter().filter(|day| day.is_real()).collect();
    // The time of a timestamp is skipped. Otherwise it would be read as a duration.
    if third.len() == 2 && rest.rest().starts_with('T') {
        let time = rest
            .rest()
            .bytes()
            .skip(1)
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.' | b'+' | b'-' | b'Z'));
        rest.at += 1 + time.count();
    }
    let goes_on = rest.rest().starts_with(|c: char| c.is_ascii_digit());
    (!readings.is_empty() && !goes_on).then_some((readings, rest.at))
}

/// Parses dates such as `12 March` and `12th of March 2026`. For `3–9 March`, returns 3 March.
fn day_first(text: &str, at: usize) -> Option<(Vec<DateParts>, usize)> {
    let mut rest = Rest { text, at };
    let first = rest.day()?;
    let ends = at + text[at..].bytes().take_while(u8::is_ascii_digit).count();
    let mut second = rest;
    if second.take(&["–", "-", " – ", " - ", " to "]) {
        let (day, _) = day_and_month(text, second.at)?;
        let first = DateParts { day: Some(first), ..day };
        return first.is_real().then_some((vec![first], ends));
    }
    let (day, end) = day_and_month(text, at)?;
    Some((vec![day], end))
}

fn day_and_month(text: &str, at: usize) -> Option<(DateParts, usize)> {
    let mut rest = Rest { text, at };
    let day = rest.day()?;
    if !rest.spaces() {
        return None;
    }
    let _ = rest.take(&["of "]);
    let month = rest.month()?;
    let day = DateParts { year: rest.year(), month, day: Some(day) };
    day.is_real().then_some((day, rest.at))
}

/// Parses a date in a text that begins with the word at `at`: `March 12`, `Mar 12, 2026`, `March 2026`.
pub(crate) fn from_word(text: &str, at: usize) -> Option<(DateParts, usize)> {
    let mut rest = Rest { text, at };
    let month = rest.month()?;
    let mut year_only = rest;
    if let Some(year) = year_only.year() {
        return Some((DateParts { year: Some(year), month, day: None }, year_only.at));
    }
    if !rest.spaces() {
        return None;
    }
    let day = rest.day()?;
    if text[..rest.at].ends_with('.') {
        rest.at -= 1;
    }
    if rest.rest().starts_with([':', '%']) || rest.rest().starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let day = DateParts { year: rest.year(), month, day: Some(day) };
    day.is_real().then_some((day, rest.at))
}
