//! Tables with one row per day (`date`) or one row per activity (`start`).
//!
//! The headers of a table are known in three ways: they are in `docs/training.md`, they are those of an export of
//! Garmin Connect or Strava ([`exports`]), or a person has stated a mapping ([`ColumnMap`]). This module never guesses
//! the meaning of a column, its unit, the decimal mark, or the order of a date. An ambiguous cell is left out and
//! reported.

mod columns;
mod dates;
mod exports;
mod mapping;
mod numbers;

use csv_core::ReadFieldResult;
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::Offset;
use serde::{Deserialize, Serialize};

use self::columns::{Column, HeaderError, MILE_M, YARD_M};
use self::dates::DateOrder;
use self::exports::Program;
pub use self::mapping::ColumnMap;
use self::numbers::Numbers;
use super::draft::{Clock, Draft, DraftDay, Drafts, Moment, too_many};
use super::{Context, Refused};
use crate::training::limits;
use crate::training::measure::{Level, Measure};
use crate::training::model::FileLocation;
use crate::training::problem::Code;
use crate::training::sport::Sport;

/// Returns all accepted headers of table columns, each with its measure.
pub fn headers() -> Vec<(String, Option<Measure>)> {
    columns::accepted_headers()
}

/// Returns the readable exports: a program and a language, with the headers of the export.
pub fn export_headers() -> Vec<(&'static str, Vec<&'static str>)> {
    exports::headers()
}

/// Units in the settings of an account, for exports of the account that do not state their units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Units {
    /// Distances are in kilometres, but in metres for swimming.
    Metric,
    /// Distances are in miles, but in yards for swimming.
    Statute,
}

impl Units {
    /// Returns the length in metres of the unit in which the account states distances of this sport.
    const fn metres(self, sport: &Sport) -> f64 {
        match (self, sport) {
            (Self::Metric, Sport::Swimming) => 1.0,
            (Self::Metric, _) => 1_000.0,
            (Self::Statute, Sport::Swimming) => YARD_M,
            (Self::Statute, _) => MILE_M,
        }
    }
}

/// Facts for reading tables that the tables do not contain.
#[derive(Clone, Copy)]
pub(super) struct TableOptions<'a> {
    pub(super) columns: &'a ColumnMap,
    pub(super) units: Option<Units>,
}

struct Row {
    line: u64,
    cells: Vec<String>,
}

struct NamedColumn {
    name: String,
    column: Column,
}

/// Source that tells what the headers of a table mean.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Reference,
    Mapping,
    Export(Program),
}

pub(super) fn read(
    text: &str,
    options: TableOptions<'_>,
    context: &mut Context<'_>,
    drafts: &mut Drafts,
) -> Result<(), Refused> {
    let (text, stated) = stated_separator(text);
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let separator = stated.unwrap_or_else(|| separator(first));
    let mut rows = rows(text, u64::from(stated.is_some()), separator, context)?;
    if rows.is_empty() {
        return Err(context.refuse(Code::CsvHeader, FileLocation::File, "the file is empty"));
    }
    let header = rows.remove(0);
    let (origin, mut columns) = header_columns(&header, options.columns, context)?;
    let has = |wanted: Column| columns.iter().flatten().any(|named| named.column == wanted);
    let level = match (has(Column::Date), has(Column::Start)) {
        (true, false) => Level::Day,
        (false, true) => Level::Activity,
        (found, _) => {
            let what = if found { "both `date` and `start`" } else { "neither `date` nor `start`" };
            let missing = options.columns.missing(&header.cells);
            let mapped = match missing.first() {
                Some(first) => {
                    format!("; `--columns` names `{}`, which is not a column of this table", shortened(first))
                }
                None => String::new(),
            };
            let message = format!("{what}{mapped}");
            return Err(context.refuse(Code::CsvHeader, FileLocation::Line(header.line), message));
        }
    };
    for column in &mut columns {
        if let Some(named) = column.take_if(|named| named.column.level().is_some_and(|of| of != level)) {
            let tables = if level == Level::Day { "activities" } else { "days" };
            let message = format!("the column `{}` is only for tables of {tables}", shortened(&named.name));
            context.warn(Code::CsvUnknownColumn, FileLocation::Line(header.line), message);
        } else if let Some(named) =
            column.take_if(|named| options.units.is_none() && named.column == Column::DistanceWithoutUnit)
        {
            let message = format!("the export does not state the unit of `{}`", shortened(&named.name));
            context.warn(Code::CsvNoUnit, FileLocation::Line(header.line), message);
        }
    }
    rows.retain(|row| row.cells.iter().any(|cell| !is_nothing(cell)));
    rows.retain(|row| {
        let is_whole = row.cells.len() == columns.len();
        if !is_whole {
            let message = format!(
                "the row has {} cells, but the header has {} columns",
                row.cells.len(),
                columns.len()
            );
            context.warn(Code::CsvRow, FileLocation::Line(row.line), message);
        }
        is_whole
    });
    let numbers = number_format(&rows, &columns, separator, origin, options.columns);
    let table = Table { columns, numbers, origin, order: options.columns.order, units: options.units };
    for row in rows {
        match level {
            Level::Day => table.day(&row, context, drafts)?,
            Level::Activity => table.activity(&row, context, drafts)?,
        }
    }
    Ok(())
}

/// Removes a first line `sep=;`, in which spreadsheets state the separator of columns. Returns the rest of the text and
/// the separator.
fn stated_separator(text: &str) -> (&str, Option<u8>) {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let stated = first.trim_end_matches('\r').trim_matches('"').to_ascii_lowercase();
    match stated.strip_prefix("sep=").map(str::as_bytes) {
        Some([separator @ (b';' | b',' | b'\t')]) => (rest, Some(*separator)),
        Some(_) | None => (text, None),
    }
}

/// Returns the most frequent separator in the header, outside of quotes. Returns a comma if there is none.
fn separator(header: &str) -> u8 {
    let outside: String = header.split('"').step_by(2).collect();
    let count = |separator: u8| outside.bytes().filter(|byte| *byte == separator).count();
    [b';', b'\t', b',']
        .into_iter()
        .max_by_key(|separator| count(*separator))
        .filter(|s| count(*s) > 0)
        .unwrap_or(b',')
}

/// Returns true if a table cell has no value: it is empty, or contains `--` as in exports.
fn is_nothing(cell: &str) -> bool {
    cell.is_empty() || cell == "--"
}

/// Reads the rows of a table and their cells one by one, so that content beyond a limit is never in memory.
fn rows(text: &str, lines_before: u64, separator: u8, context: &Context<'_>) -> Result<Vec<Row>, Refused> {
    let mut reader = csv_core::ReaderBuilder::new().delimiter(separator).build();
    reader.set_line(reader.line() + lines_before);
    let mut left = text.as_bytes();
    let mut rows: Vec<Row> = Vec::new();
    let mut row = Row { line: 1, cells: Vec::new() };
    let mut cell = Cell::default();
    let mut buffer = [0; 1_024];
    loop {
        // Before the first cell of a row, empty lines are skipped, so that the line of the row is correct.
        if row.cells.is_empty() && cell.is_new() {
            while let [end @ (b'\r' | b'\n'), rest @ ..] = left {
                reader.set_line(reader.line() + u64::from(*end == b'\n'));
                left = rest;
            }
            row.line = reader.line();
        }
        let (found, read, written) = reader.read_field(left, &mut buffer);
        left = &left[read..];
        cell.append(&buffer[..written]);
        let ends_row = match found {
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => continue,
            ReadFieldResult::Field { record_end } => record_end,
            ReadFieldResult::End => return Ok(rows),
        };
        if row.cells.len() >= limits::CSV_COLUMNS {
            let message = too_many(limits::CSV_COLUMNS, "columns");
            return Err(context.refuse(Code::CsvHeader, FileLocation::Line(row.line), message));
        }
        row.cells.push(std::mem::take(&mut cell).text());
        if ends_row {
            // `rows` includes the header.
            if rows.len() > limits::CSV_ROWS {
                let message = too_many(limits::CSV_ROWS, "rows");
                return Err(context.refuse(Code::TooManyActivities, FileLocation::Line(row.line), message));
            }
            rows.push(std::mem::replace(&mut row, Row { line: 0, cells: Vec::new() }));
        }
    }
}

/// Text of a table cell, cut at the maximum length.
#[derive(Default)]
struct Cell {
    bytes: Vec<u8>,
    is_cut: bool,
}

impl Cell {
    const fn is_new(&self) -> bool {
        self.bytes.is_empty() && !self.is_cut
    }

    fn append(&mut self, bytes: &[u8]) {
        let room = limits::CELL_CHARS.saturating_sub(self.bytes.len());
        self.is_cut |= bytes.len() > room;
        self.bytes.extend(bytes.iter().take(room));
    }

    /// Returns the text of the table cell. A cut text gets a mark at its end, so that it is not read as a number.
    fn text(self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut text = text.trim().to_owned();
        if self.is_cut {
            text.push('…');
        }
        text
    }
}

/// Returns how the headers of a table are known, and the content of each column. An unknown column is reported and
/// becomes `None`.
fn header_columns(
    header: &Row,
    map: &ColumnMap,
    context: &mut Context<'_>,
) -> Result<(Origin, Vec<Option<NamedColumn>>), Refused> {
    let known = match (map.columns(&header.cells), exports::find(&header.cells)) {
        (Some(columns), _) => Some((Origin::Mapping, columns)),
        (None, Some(export)) => Some((Origin::Export(export.program), export.columns(&header.cells))),
        (None, None) => None,
    };
    let Some((origin, found)) = known else {
        return Ok((Origin::Reference, reference_columns(header, context)?));
    };
    let mut columns: Vec<Option<NamedColumn>> = Vec::new();
    for (name, column) in header.cells.iter().zip(found) {
        check_twice(name, column, &columns, header, context)?;
        columns.push(Some(NamedColumn { name: name.clone(), column }));
    }
    Ok((origin, columns))
}

/// Returns the content of each table column whose header is in `docs/training.md`.
fn reference_columns(header: &Row, context: &mut Context<'_>) -> Result<Vec<Option<NamedColumn>>, Refused> {
    let place = || FileLocation::Line(header.line);
    let mut columns: Vec<Option<NamedColumn>> = Vec::new();
    for name in &header.cells {
        let column = match Column::from_header(name) {
            Ok(column) => column,
            Err(HeaderError::Unit(units)) => {
                let message = format!(
                    "the column `{}` has no known unit; name it with one of the units: {units}",
                    shortened(name)
                );
                return Err(context.refuse(Code::CsvUnit, place(), message));
            }
            Err(HeaderError::Unknown) => {
                context.warn(Code::CsvUnknownColumn, place(), format!("the column `{}`", shortened(name)));
                columns.push(None);
                continue;
            }
        };
        check_twice(name, column, &columns, header, context)?;
        columns.push(Some(NamedColumn { name: name.clone(), column }));
    }
    Ok(columns)
}

/// Returns an error if an earlier column of the table has the same content as this column.
fn check_twice(
    name: &str,
    column: Column,
    before: &[Option<NamedColumn>],
    header: &Row,
    context: &Context<'_>,
) -> Result<(), Refused> {
    let is_twice = |other: &NamedColumn| other.column.kind() == column.kind() && column != Column::Remark;
    if before.iter().flatten().any(is_twice) {
        let message = format!("`{}` occurs twice", shortened(name));
        return Err(context.refuse(Code::CsvColumnTwice, FileLocation::Line(header.line), message));
    }
    Ok(())
}

/// Returns the format of the numbers in a table. The columns that are read from exports of Strava have a decimal point.
/// In all other tables, the mapping or the numbers themselves determine the format: a spreadsheet program may have
/// saved an export again.
fn number_format(
    rows: &[Row],
    columns: &[Option<NamedColumn>],
    separator: u8,
    origin: Origin,
    map: &ColumnMap,
) -> Numbers {
    let has_number = |named: &Option<NamedColumn>| {
        matches!(named, Some(NamedColumn { column: Column::Number(..) | Column::DistanceWithoutUnit, .. }))
    };
    let cells = |is_read: fn(bool) -> bool| {
        let pairs = rows.iter().flat_map(|row| row.cells.iter().zip(columns));
        pairs.filter(move |(_, named)| is_read(has_number(named))).map(|(cell, _)| cell.as_str())
    };
    let found = match (origin, map.decimal) {
        (Origin::Export(Program::Strava), _) if separator == b',' => {
            Numbers::with_decimal(numbers::Decimal::Point, separator)
        }
        (Origin::Mapping, Some(decimal)) => Numbers::with_decimal(decimal, separator).with_thousands(),
        // All columns of an export have the same format.
        (Origin::Export(Program::Garmin), _) => {
            Numbers::from_cells(cells(|_| true), separator).with_thousands()
        }
        (Origin::Reference | Origin::Mapping | Origin::Export(Program::Strava), _) => {
            Numbers::from_cells(cells(|is_read| is_read), separator)
        }
    };
    found.or_decimal(map.decimal)
}

/// Format of a table of training data, determined from its header and its numbers.
struct Table {
    columns: Vec<Option<NamedColumn>>,
    numbers: Numbers,
    origin: Origin,
    /// Order of day, month and year in those dates of the table that consist of numbers, if the mapping states it.
    order: Option<DateOrder>,
    units: Option<Units>,
}

impl Table {
    /// Returns the measures in a row of the table. Invalid cells are reported and left out.
    fn measures(&self, row: &Row, sport: &Sport, context: &mut Context<'_>) -> Vec<(Measure, f64)> {
        let (mut found, mut fallbacks) = (Vec::new(), Vec::new());
        for (cell, named) in row.cells.iter().zip(&self.columns) {
            let Some(named) = named.as_ref().filter(|_| !is_nothing(cell)) else { continue };
            let number = || self.numbers.parse(cell);
            let (measure, value) = match named.column {
                Column::Number(measure, factor) => (measure, number().map(|value| value * factor)),
                Column::DistanceWithoutUnit => {
                    let Some(units) = self.units else { continue };
                    (Measure::Distance, number().map(|value| value * units.metres(sport)))
                }
                Column::Fallback(measure) => (measure, number()),
                Column::Clock(Measure::Sleep) => {
                    (Measure::Sleep, night(cell).map(|seconds| seconds / HOUR_S))
                }
                Column::Clock(measure) => (measure, clock(cell)),
                Column::Date | Column::Start | Column::Sport | Column::Remark => continue,
            };
            match value {
                // In an export, 0 means that there was no sensor.
                Ok(value) if value == 0.0 && matches!(self.origin, Origin::Export(_)) => {}
                Ok(value) if matches!(named.column, Column::Fallback(_)) => fallbacks.push((measure, value)),
                Ok(value) => found.push((measure, value)),
                Err(code) => {
                    let message = format!("`{}` in the column `{}`", shortened(cell), shortened(&named.name));
                    context.warn(code, FileLocation::Line(row.line), message);
                }
            }
        }
        // If a measure has several values, the first one is used.
        found.append(&mut fallbacks);
        found
    }

    fn cell<'a>(&self, row: &'a Row, wanted: Column) -> &'a str {
        let is_wanted =
            |named: &Option<NamedColumn>| named.as_ref().is_some_and(|named| named.column == wanted);
        let at = self.columns.iter().position(is_wanted);
        at.and_then(|at| row.cells.get(at)).map_or("", |cell| cell)
    }

    fn day(&self, row: &Row, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
        let place = FileLocation::Line(row.line);
        let text = self.cell(row, Column::Date);
        let date = match self.date(text) {
            Ok(date) => date,
            Err(code) => {
                context.warn(code, place, format!("`{}`", shortened(text)));
                return Ok(());
            }
        };
        for (measure, value) in self.measures(row, &Sport::Unknown, context) {
            drafts.day(DraftDay { date, measure, value, place: place.clone() }, context)?;
        }
        Ok(())
    }

    /// Parses a date. Without a mapping, only dates such as `2026-03-01` are valid.
    fn date(&self, text: &str) -> Result<Date, Code> {
        let by_form = super::date(text);
        match (by_form, self.origin) {
            (Err(Code::BadDate), Origin::Mapping) => dates::date(text, self.order).ok_or(Code::BadDate),
            (by_form, _) => by_form,
        }
    }

    fn activity(&self, row: &Row, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
        let place = FileLocation::Line(row.line);
        let text = self.cell(row, Column::Start);
        let (start, clock) = match self.start(text, &place, context) {
            Ok(found) => found,
            Err(code) => {
                context.warn(code, place, format!("`{}`", shortened(text)));
                return Ok(());
            }
        };
        let sport = Sport::from_name(&shortened(self.cell(row, Column::Sport)));
        let found = self.measures(row, &sport, context);
        let measures = found.into_iter().map(|(measure, value)| (measure, value, place.clone())).collect();
        let draft = Draft { start, clock, sport, measures, samples: Vec::new(), pauses: Vec::new(), place };
        drafts.activity(draft, context)
    }

    /// Parses the start of an activity, which is local in exports of Garmin Connect and in UTC in exports of Strava.
    fn start(
        &self,
        text: &str,
        place: &FileLocation,
        context: &mut Context<'_>,
    ) -> Result<(Timestamp, Clock), Code> {
        let other_form = || dates::date_time(text, self.order).filter(|_| self.origin != Origin::Reference);
        if let Some(written) = other_form() {
            if self.origin == Origin::Export(Program::Strava) {
                let start = Offset::UTC.to_timestamp(written).map_err(|_| Code::BadDate)?;
                return Ok((start, Clock::Utc));
            }
            let start = Moment::from_local(written, context.zone()).ok_or(Code::BadDate)?;
            start.warn_clock_change(place, context);
            return Ok((start.at, start.clock));
        }
        Draft::parse_start(text, place, context)
    }
}

const HOUR_S: f64 = 3_600.0;
/// Smallest first part of a written duration such as `62:03` that must be minutes. No activity takes so many hours.
const MINUTES: f64 = 24.0;

/// Parses a written duration such as `1:02:03` or `62:03` into seconds. Rejects `1:05`, which could be hours and
/// minutes or minutes and seconds.
fn clock(cell: &str) -> Result<f64, Code> {
    match parts(cell).as_deref() {
        Some([hours, minutes, seconds]) => whole(*hours, *minutes, *seconds),
        Some([minutes, _]) if *minutes < MINUTES => Err(Code::CsvAmbiguousTime),
        Some([minutes, seconds]) if *seconds < 60.0 => Ok(minutes * 60.0 + seconds),
        _ => Err(Code::BadNumber),
    }
}

/// Parses a written sleep duration such as `7:30:00` or `7:30` into seconds. The first part is always hours.
fn night(cell: &str) -> Result<f64, Code> {
    match parts(cell).as_deref() {
        Some([hours, minutes, seconds]) => whole(*hours, *minutes, *seconds),
        Some([hours, minutes]) => whole(*hours, *minutes, 0.0),
        _ => Err(Code::BadNumber),
    }
}

fn whole(hours: f64, minutes: f64, seconds: f64) -> Result<f64, Code> {
    let is_clock = minutes < 60.0 && seconds < 60.0;
    is_clock.then_some(hours * HOUR_S + minutes * 60.0 + seconds).ok_or(Code::BadNumber)
}

fn parts(cell: &str) -> Option<Vec<f64>> {
    let part = |part: &str| {
        // Between the colons of a time, a comma must be a decimal comma.
        let part = part.replace(',', ".");
        let is_plain = part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        is_plain.then(|| part.parse().ok()).flatten()
    };
    cell.split(':').map(part).collect()
}

/// Shortens the text of a table cell for a message that quotes the cell.
fn shortened(text: &str) -> String {
    const QUOTED: usize = 60;
    if text.chars().count() <= QUOTED {
        return text.to_owned();
    }
    text.chars().take(QUOTED).chain(['…']).collect()
}
