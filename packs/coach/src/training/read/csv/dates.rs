//! Dates and times as people and exports write them: with the name of a month, or as numbers in a known order.

use jiff::civil::{Date, DateTime, Time};

/// Order of day, month and year in a date that consists only of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateOrder {
    DayMonthYear,
    MonthDayYear,
    YearMonthDay,
}

impl DateOrder {
    pub(super) const ALL: [(&'static str, Self); 3] =
        [("dmy", Self::DayMonthYear), ("mdy", Self::MonthDayYear), ("ymd", Self::YearMonthDay)];
}

/// Names and abbreviations of the months in English, German, French, Spanish, Italian and Dutch. Each stands for only
/// one month.
static MONTHS: &[(&str, i8)] = &[
    ("january", 1),
    ("jan", 1),
    ("januar", 1),
    ("jän", 1),
    ("janvier", 1),
    ("janv", 1),
    ("enero", 1),
    ("ene", 1),
    ("gennaio", 1),
    ("gen", 1),
    ("januari", 1),
    ("february", 2),
    ("feb", 2),
    ("februar", 2),
    ("février", 2),
    ("févr", 2),
    ("fév", 2),
    ("febrero", 2),
    ("febbraio", 2),
    ("februari", 2),
    ("march", 3),
    ("mar", 3),
    ("märz", 3),
    ("mär", 3),
    ("mrz", 3),
    ("mars", 3),
    ("marzo", 3),
    ("maart", 3),
    ("mrt", 3),
    ("april", 4),
    ("apr", 4),
    ("avril", 4),
    ("avr", 4),
    ("abril", 4),
    ("abr", 4),
    ("aprile", 4),
    ("may", 5),
    ("mai", 5),
    ("mayo", 5),
    ("maggio", 5),
    ("mag", 5),
    ("mei", 5),
    ("june", 6),
    ("jun", 6),
    ("juni", 6),
    ("juin", 6),
    ("junio", 6),
    ("giugno", 6),
    ("giu", 6),
    ("july", 7),
    ("jul", 7),
    ("juli", 7),
    ("juillet", 7),
    ("juil", 7),
    ("julio", 7),
    ("luglio", 7),
    ("lug", 7),
    ("august", 8),
    ("aug", 8),
    ("août", 8),
    ("aout", 8),
    ("agosto", 8),
    ("ago", 8),
    ("augustus", 8),
    ("september", 9),
    ("sept", 9),
    ("sep", 9),
    ("septembre", 9),
    ("septiembre", 9),
    ("settembre", 9),
    ("set", 9),
    ("october", 10),
    ("oct", 10),
    ("oktober", 10),
    ("okt", 10),
    ("octobre", 10),
    ("octubre", 10),
    ("ottobre", 10),
    ("ott", 10),
    ("november", 11),
    ("nov", 11),
    ("novembre", 11),
    ("noviembre", 11),
    ("december", 12),
    ("dec", 12),
    ("dezember", 12),
    ("dez", 12),
    ("décembre", 12),
    ("déc", 12),
    ("diciembre", 12),
    ("dicembre", 12),
    ("dic", 12),
];

/// Words that can be between a date and a time in a table cell.
const FILLERS: [&str; 6] = ["à", "at", "um", "alle", "ore", "de"];

/// Parses a date with a time, such as `Sep 20, 2026, 2:12:12 PM`, `20.09.2026, 14:12:12` or `6 mrt. 2024 14:23:15`. A
/// date of numbers is accepted only if its order is certain: `order` is given, or points separate the numbers. No
/// language with points writes the month before the day.
pub(super) fn date_time(text: &str, order: Option<DateOrder>) -> Option<DateTime> {
    let mut tokens = Tokens::new(text);
    let date = tokens.date(order)?;
    let time = tokens.time()?;
    tokens.is_at_end().then(|| date.to_datetime(time))
}

/// Parses a date without a time. `order` is the order of a date that consists of numbers.
pub(super) fn date(text: &str, order: Option<DateOrder>) -> Option<Date> {
    let mut tokens = Tokens::new(text);
    let date = tokens.date(order)?;
    tokens.is_at_end().then_some(date)
}

/// Words and numbers of a written date in order, each with the text before it.
struct Tokens {
    left: std::vec::IntoIter<(String, String)>,
}

impl Tokens {
    fn new(text: &str) -> Self {
        // `a. m.` and `p. m.` are Spanish.
        let lower = text.to_lowercase().replace("a. m.", "am").replace("p. m.", "pm").replace("a.m.", "am");
        let lower = lower.replace("p.m.", "pm");
        let mut tokens: Vec<(String, String)> = Vec::new();
        let (mut gap, mut token) = (String::new(), String::new());
        for c in lower.chars().chain(['\n']) {
            let continues = token.chars().last().is_none_or(|last| last.is_numeric() == c.is_numeric());
            if c.is_alphanumeric() && continues {
                token.push(c);
                continue;
            }
            if !token.is_empty() {
                tokens.push((std::mem::take(&mut gap), std::mem::take(&mut token)));
            }
            if c.is_alphanumeric() { token.push(c) } else { gap.push(c) }
        }
        tokens.retain(|(_, token)| !FILLERS.contains(&&**token));
        Self { left: tokens.into_iter() }
    }

    fn is_at_end(&self) -> bool {
        self.left.as_slice().is_empty()
    }

    fn next(&mut self) -> Option<String> {
        self.left.next().map(|(_, token)| token)
    }

    fn number(&mut self) -> Option<i16> {
        self.next()?.parse().ok()
    }

    fn date(&mut self, order: Option<DateOrder>) -> Option<Date> {
        let [(_, first), (mark, second), ..] = self.left.as_slice() else { return None };
        let month = |text: &str| MONTHS.iter().find(|(name, _)| *name == text).map(|(_, month)| *month);
        let is_year = |text: &str| text.len() == 4;
        let (first_month, second_month) = (month(first), month(second));
        let by_points = (mark == ".").then_some(DateOrder::DayMonthYear);
        let by_year = is_year(first).then_some(DateOrder::YearMonthDay);
        if first_month.is_some() || second_month.is_some() {
            let [a, b] = [self.next()?, self.next()?];
            let day = if first_month.is_some() { b } else { a };
            let year = self.next().filter(|year| is_year(year))?;
            return Date::new(year.parse().ok()?, first_month.or(second_month)?, day.parse().ok()?).ok();
        }
        let order = by_year.or(order).or(by_points)?;
        let numbers = [self.number()?, self.number()?, self.number()?];
        let [day, month, year] = match (order, numbers) {
            (DateOrder::DayMonthYear, [day, month, year]) | (DateOrder::MonthDayYear, [month, day, year]) => {
                [day, month, year]
            }
            (DateOrder::YearMonthDay, [year, month, day]) => [day, month, year],
        };
        // A year of two digits is rejected, because it may belong to any century.
        let is_whole = year >= 1_000;
        is_whole.then(|| Date::new(year, month.try_into().ok()?, day.try_into().ok()?).ok())?
    }

    /// Parses hours, minutes and optional seconds of a written time. `pm` adds twelve hours.
    fn time(&mut self) -> Option<Time> {
        let (hour, minute) = (self.number()?, self.number()?);
        // In `10:00+02`, the third number is an offset.
        let is_second = |(gap, token): &(String, String)| {
            matches!(gap.as_str(), ":" | ".") && token.bytes().all(|byte| byte.is_ascii_digit())
        };
        let second = if self.left.as_slice().first().is_some_and(is_second) { self.number()? } else { 0 };
        let hour = match self.next().as_deref() {
            None => hour,
            Some("am") if (1..=12).contains(&hour) => hour % 12,
            Some("pm") if (1..=12).contains(&hour) => hour % 12 + 12,
            Some(_) => return None,
        };
        Time::new(hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?, 0).ok()
    }
}
