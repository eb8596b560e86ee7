//! Tables that the athlete writes: one row per day (`date`) or one row per activity (`start`).
//!
//! Columns are separated by `,`, `;` or tabs. Numbers have a decimal point, or a decimal comma in files with `;` or
//! tabs. A cell with thousands separators, or with a decimal mark that differs from the rest of the file, is reported
//! and left out: its value is never guessed.

mod columns;

use std::cmp::Ordering;

use csv_core::ReadFieldResult;

use self::columns::{Column, HeaderError};
use super::draft::{Draft, DraftDay, Drafts, too_many};
use super::{Context, Refused, date};
use crate::training::limits;
use crate::training::measure::{Level, Measure};
use crate::training::model::{FileLocation, Sport};
use crate::training::problem::Code;

/// Returns every accepted header, with its measure.
pub fn headers() -> Vec<(String, Option<Measure>)> {
    columns::accepted_headers()
}

/// Decimal mark of the numbers in a file.
#[derive(Clone, Copy, PartialEq)]
enum Decimal {
    Point,
    Comma,
}

struct Row {
    line: u64,
    cells: Vec<String>,
}

/// Header of a column that is read, with the column's meaning.
struct NamedColumn {
    name: String,
    column: Column,
}

pub(super) fn read(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let first = text.lines().next().unwrap_or_default();
    let separator = separator(first);
    let mut rows = rows(text, separator, context)?;
    if rows.is_empty() {
        return Err(context.refuse(Code::CsvHeader, FileLocation::File, "the file is empty"));
    }
    let header = rows.remove(0);
    let mut columns = header_columns(&header, context)?;
    let has = |wanted: Column| columns.iter().flatten().any(|named| named.column == wanted);
    let level = match (has(Column::Date), has(Column::Start)) {
        (true, false) => Level::Day,
        (false, true) => Level::Activity,
        (found, _) => {
            let message = if found { "both `date` and `start`" } else { "neither `date` nor `start`" };
            return Err(context.refuse(Code::CsvHeader, FileLocation::Line(header.line), message));
        }
    };
    for column in &mut columns {
        if let Some(named) = column.take_if(|named| named.column.level().is_some_and(|of| of != level)) {
            let tables = if level == Level::Day { "activities" } else { "days" };
            let message = format!("the column `{}` belongs to tables of {tables}", shortened(&named.name));
            context.warn(Code::CsvUnknownColumn, FileLocation::Line(header.line), message);
        }
    }
    rows.retain(|row| row.cells.iter().any(|cell| !cell.is_empty()));
    rows.retain(|row| {
        let is_whole = row.cells.len() == columns.len();
        if !is_whole {
            let message =
                format!("cells in the row: {}; columns in the header: {}", row.cells.len(), columns.len());
            context.warn(Code::CsvRow, FileLocation::Line(row.line), message);
        }
        is_whole
    });
    let table = Table { decimal: decimal(&rows, &columns, separator), columns, separator };
    for row in rows {
        match level {
            Level::Day => table.day(&row, context, drafts)?,
            Level::Activity => table.activity(&row, context, drafts)?,
        }
    }
    Ok(())
}

/// Returns the separator that is most frequent in the header, or a comma if the header has no separator.
fn separator(header: &str) -> u8 {
    let count = |separator: u8| header.bytes().filter(|byte| *byte == separator).count();
    [b';', b'\t', b',']
        .into_iter()
        .max_by_key(|separator| count(*separator))
        .filter(|s| count(*s) > 0)
        .unwrap_or(b',')
}

/// Reads row by row and cell by cell, so that content beyond a limit is never held in memory.
fn rows(text: &str, separator: u8, context: &Context<'_>) -> Result<Vec<Row>, Refused> {
    let mut reader = csv_core::ReaderBuilder::new().delimiter(separator).build();
    let mut left = text.as_bytes();
    let mut rows: Vec<Row> = Vec::new();
    let mut row = Row { line: 1, cells: Vec::new() };
    let mut cell = Cell::default();
    let mut buffer = [0; 1_024];
    loop {
        // Before the first cell of a row, empty lines are skipped to find the line where the row begins.
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

/// Text of a cell, cut at the limit.
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

    /// Returns the text. A cut text ends with a mark, so that it is not read as a number.
    fn text(self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut text = text.trim().to_owned();
        if self.is_cut {
            text.push('…');
        }
        text
    }
}

/// Returns the meaning of each column. None for an unknown column, which is reported.
fn header_columns(header: &Row, context: &mut Context<'_>) -> Result<Vec<Option<NamedColumn>>, Refused> {
    let place = || FileLocation::Line(header.line);
    let mut columns: Vec<Option<NamedColumn>> = Vec::new();
    for name in &header.cells {
        let column = match columns::column(name) {
            Ok(column) => column,
            Err(HeaderError::Unit(units)) => {
                let message = format!("`{}` has no known unit; known: {units}", shortened(name));
                return Err(context.refuse(Code::CsvUnit, place(), message));
            }
            Err(HeaderError::Unknown) => {
                context.warn(Code::CsvUnknownColumn, place(), format!("the column `{}`", shortened(name)));
                columns.push(None);
                continue;
            }
        };
        let is_twice = |other: &NamedColumn| kind(other.column) == kind(column) && column != Column::Remark;
        if columns.iter().flatten().any(is_twice) {
            let message = format!("`{}` occurs twice", shortened(name));
            return Err(context.refuse(Code::CsvColumnTwice, place(), message));
        }
        columns.push(Some(NamedColumn { name: name.clone(), column }));
    }
    Ok(columns)
}

/// Returns the column with its unit removed, to compare columns of the same measure.
fn kind(column: Column) -> Column {
    match column {
        Column::Number(measure, _) => Column::Clock(measure),
        Column::Clock(_) | Column::Date | Column::Start | Column::Sport | Column::Remark => column,
    }
}

/// Returns the decimal mark of the file, or None if the mark is ambiguous.
///
/// The function counts the cells with exactly one mark. If some of these marks cannot be thousands separators (in
/// `1.234` it could be one), only those cells count. The most frequent mark is the decimal mark of the file. Cells with
/// the other mark are reported and left out.
fn decimal(rows: &[Row], columns: &[Option<NamedColumn>], separator: u8) -> Option<Decimal> {
    if separator == b',' {
        return Some(Decimal::Point);
    }
    let (mut sure, mut all) = ([0_usize; 2], [0_usize; 2]);
    for row in rows {
        for (cell, named) in row.cells.iter().zip(columns) {
            if !matches!(named, Some(NamedColumn { column: Column::Number(..), .. })) {
                continue;
            }
            let Some((mark, is_sure)) = mark(cell) else { continue };
            all[mark as usize] += 1;
            sure[mark as usize] += usize::from(is_sure);
        }
    }
    let [points, commas] = if sure == [0, 0] { all } else { sure };
    match points.cmp(&commas) {
        Ordering::Greater => Some(Decimal::Point),
        Ordering::Less => Some(Decimal::Comma),
        // Without any mark in the file, both decimal marks give the same numbers.
        Ordering::Equal => (points == 0).then_some(Decimal::Point),
    }
}

/// Returns the mark of a cell with exactly one mark, and true if the mark cannot be a thousands separator.
fn mark(cell: &str) -> Option<(Decimal, bool)> {
    let mut marks = cell.char_indices().filter(|(_, c)| ['.', ','].contains(c));
    let (at, mark) = marks.next()?;
    if marks.next().is_some() {
        return None;
    }
    let behind = &cell[at + 1..];
    let is_sure = behind.len() != 3 || !behind.bytes().all(|byte| byte.is_ascii_digit());
    Some((if mark == '.' { Decimal::Point } else { Decimal::Comma }, is_sure))
}

/// Format of a table, detected from the header and the numbers.
struct Table {
    columns: Vec<Option<NamedColumn>>,
    separator: u8,
    decimal: Option<Decimal>,
}

impl Table {
    /// Returns the measures of a row. An invalid cell is reported and left out.
    fn measures(&self, row: &Row, context: &mut Context<'_>) -> Vec<(Measure, f64)> {
        let mut found = Vec::new();
        for (cell, named) in row.cells.iter().zip(&self.columns) {
            let Some(named) = named.as_ref().filter(|_| !cell.is_empty()) else { continue };
            let (measure, value) = match named.column {
                Column::Number(measure, factor) => (measure, self.number(cell).map(|value| value * factor)),
                Column::Clock(Measure::Sleep) => {
                    (Measure::Sleep, night(cell).map(|seconds| seconds / HOUR_S))
                }
                Column::Clock(measure) => (measure, clock(cell)),
                Column::Date | Column::Start | Column::Sport | Column::Remark => continue,
            };
            match value {
                Ok(value) => found.push((measure, value)),
                Err(code) => {
                    let message = format!("`{}` in the column `{}`", shortened(cell), shortened(&named.name));
                    context.warn(code, FileLocation::Line(row.line), message);
                }
            }
        }
        found
    }

    /// Parses a number in the format of this table. An ambiguous mark is an error.
    fn number(&self, cell: &str) -> Result<f64, Code> {
        let marks = cell.matches(['.', ',']).count();
        let has_comma = cell.contains(',');
        let is_plain = cell.bytes().all(|byte| byte.is_ascii_digit() || b".,-+".contains(&byte));
        if !is_plain {
            // Notations such as `inf`, `nan` or `1e9` are rejected, because people do not write numbers like this.
            return Err(Code::BadNumber);
        }
        match self.decimal {
            _ if has_comma && self.separator == b',' => Err(Code::CsvDecimalComma),
            _ if marks > 1 => Err(Code::CsvMixedDecimals),
            None if marks > 0 => Err(Code::CsvMixedDecimals),
            Some(decimal) if marks > 0 && has_comma != (decimal == Decimal::Comma) => {
                Err(Code::CsvMixedDecimals)
            }
            Some(_) | None => cell.replace(',', ".").parse().map_err(|_| Code::BadNumber),
        }
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
        let date = match date(text) {
            Ok(date) => date,
            Err(code) => {
                context.warn(code, place, format!("`{}`", shortened(text)));
                return Ok(());
            }
        };
        for (measure, value) in self.measures(row, context) {
            drafts.day(DraftDay { date, measure, value, place: place.clone() }, context)?;
        }
        Ok(())
    }

    fn activity(&self, row: &Row, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
        let place = FileLocation::Line(row.line);
        let text = self.cell(row, Column::Start);
        let (start, clock) = match Draft::parse_start(text, &place, context) {
            Ok(found) => found,
            Err(code) => {
                context.warn(code, place, format!("`{}`", shortened(text)));
                return Ok(());
            }
        };
        let found = self.measures(row, context);
        let measures = found.into_iter().map(|(measure, value)| (measure, value, place.clone())).collect();
        let sport = Sport::from_name(&shortened(self.cell(row, Column::Sport)));
        let draft = Draft { start, clock, sport, measures, samples: Vec::new(), place };
        drafts.activity(draft, context)
    }
}

const HOUR_S: f64 = 3_600.0;
/// In a duration of two parts, a first part from this value on must be minutes: no activity takes as many hours.
const MINUTES: f64 = 24.0;

/// Parses `1:02:03` or `62:03` into seconds. Rejects `1:05`, which may be hours or minutes.
fn clock(cell: &str) -> Result<f64, Code> {
    match parts(cell).as_deref() {
        Some([hours, minutes, seconds]) => whole(*hours, *minutes, *seconds),
        Some([minutes, _]) if *minutes < MINUTES => Err(Code::CsvAmbiguousTime),
        Some([minutes, seconds]) if *seconds < 60.0 => Ok(minutes * 60.0 + seconds),
        _ => Err(Code::BadNumber),
    }
}

/// Parses `7:30:00` or `7:30` into seconds. The first part is hours: sleep is never written in minutes and seconds.
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
        let is_plain = part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        is_plain.then(|| part.parse().ok()).flatten()
    };
    cell.split(':').map(part).collect()
}

/// Shortens a cell for a problem message.
fn shortened(text: &str) -> String {
    const QUOTED: usize = 60;
    if text.chars().count() <= QUOTED {
        return text.to_owned();
    }
    text.chars().take(QUOTED).chain(['…']).collect()
}
