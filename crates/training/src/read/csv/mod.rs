//! Tables of the user: one row a day (`date`) or one row an activity (`start`).
//!
//! Columns are separated by `,`, `;` or tabs. Numbers have a decimal point, or in files with `;` or tabs a decimal
//! comma; never both in one file, and never marks for thousands: a number is not guessed.

mod columns;

use jiff::civil::Date;

use self::columns::{Column, Unread};
use super::draft::{Draft, DraftDay, Drafts};
use super::{Context, Refused, date};
use crate::limits;
use crate::measure::{Level, Measure};
use crate::model::{Place, Sport};
use crate::problem::Code;

/// Every header that is taken, with its measure.
pub fn headers() -> Vec<(String, Option<Measure>)> {
    columns::taken()
}

/// How numbers are written.
#[derive(Clone, Copy, PartialEq)]
enum Decimal {
    Point,
    Comma,
}

struct Row {
    line: u64,
    cells: Vec<String>,
}

pub(super) fn read(text: &str, context: &mut Context<'_>, drafts: &mut Drafts) -> Result<(), Refused> {
    let first = text.lines().next().unwrap_or_default();
    let separator = separator(first);
    let mut rows = rows(text, separator, context)?;
    if rows.is_empty() {
        return Err(context.refuse(Code::CsvHeader, Place::File, "the file is empty"));
    }
    let header = rows.remove(0);
    let columns = header_columns(&header, context)?;
    let has = |wanted: Column| columns.contains(&Some(wanted));
    let level = match (has(Column::Date), has(Column::Start)) {
        (true, false) => Level::Day,
        (false, true) => Level::Activity,
        (found, _) => {
            let message = if found { "both `date` and `start`" } else { "neither `date` nor `start`" };
            return Err(context.refuse(Code::CsvHeader, Place::Line(header.line), message));
        }
    };
    let decimal = decimal(&rows, &columns, separator, context)?;
    for row in rows {
        if row.cells.iter().all(String::is_empty) {
            continue;
        }
        if row.cells.len() != columns.len() {
            let message = format!("{} cells under {} names", row.cells.len(), columns.len());
            context.warn(Code::CsvRow, Place::Line(row.line), message);
            continue;
        }
        match level {
            Level::Day => day(&row, &columns, decimal, context, drafts),
            Level::Activity => drafts.activities.extend(activity(&row, &columns, decimal, context)),
        }
    }
    Ok(())
}

/// The one that the header has most of; a comma where it has none.
fn separator(header: &str) -> u8 {
    let count = |separator: u8| header.bytes().filter(|byte| *byte == separator).count();
    [b';', b'\t', b',']
        .into_iter()
        .max_by_key(|separator| count(*separator))
        .filter(|s| count(*s) > 0)
        .unwrap_or(b',')
}

fn rows(text: &str, separator: u8, context: &Context<'_>) -> Result<Vec<Row>, Refused> {
    let mut reader = ::csv::ReaderBuilder::new();
    reader.delimiter(separator).has_headers(false).flexible(true).trim(::csv::Trim::All);
    let mut rows = Vec::new();
    for record in reader.from_reader(text.as_bytes()).into_records() {
        let record =
            record.map_err(|error| context.refuse(Code::CsvHeader, Place::File, error.to_string()))?;
        let line = record.position().map_or(1, ::csv::Position::line);
        if record.len() > limits::CSV_COLUMNS {
            let message = format!("{} columns; at most {} are read", record.len(), limits::CSV_COLUMNS);
            return Err(context.refuse(Code::CsvHeader, Place::Line(line), message));
        }
        if rows.len() > limits::ACTIVITIES {
            let message = format!("more than {} rows", limits::ACTIVITIES);
            return Err(context.refuse(Code::TooManyActivities, Place::Line(line), message));
        }
        rows.push(Row { line, cells: record.iter().map(str::to_owned).collect() });
    }
    Ok(rows)
}

/// What each column holds; none for one that is told and not read.
fn header_columns(header: &Row, context: &mut Context<'_>) -> Result<Vec<Option<Column>>, Refused> {
    let place = || Place::Line(header.line);
    let mut columns: Vec<Option<Column>> = Vec::new();
    for name in &header.cells {
        let column = match columns::column(name) {
            Ok(column) => Some(column),
            Err(Unread::Unit(units)) => {
                let message = format!("`{}` names no unit that is known; {units} are", shortened(name));
                return Err(context.refuse(Code::CsvUnit, place(), message));
            }
            Err(Unread::Unknown) => {
                context.warn(Code::CsvUnknownColumn, place(), format!("the column `{}`", shortened(name)));
                None
            }
        };
        let measures = |other: &Option<Column>| match (other, &column) {
            (Some(other), Some(column)) => kind(*other) == kind(*column) && *column != Column::Remark,
            (None, _) | (_, None) => false,
        };
        if columns.iter().any(measures) {
            let message = format!("`{}` is there twice", shortened(name));
            return Err(context.refuse(Code::CsvColumnTwice, place(), message));
        }
        columns.push(column);
    }
    Ok(columns)
}

/// A column without its unit.
fn kind(column: Column) -> Column {
    match column {
        Column::Number(measure, _) => Column::Clock(measure),
        Column::Clock(_) | Column::Date | Column::Start | Column::Sport | Column::Remark => column,
    }
}

/// How the file writes numbers: told apart over all of its cells, or refused.
fn decimal(
    rows: &[Row],
    columns: &[Option<Column>],
    separator: u8,
    context: &Context<'_>,
) -> Result<Decimal, Refused> {
    let mut found: Option<Decimal> = None;
    for row in rows {
        for (cell, column) in row.cells.iter().zip(columns) {
            if !matches!(column, Some(Column::Number(..))) {
                continue;
            }
            let (points, commas) = (cell.matches('.').count(), cell.matches(',').count());
            let mark = match (points, commas) {
                (0, 0) => continue,
                (1, 0) => Decimal::Point,
                (0, 1) => Decimal::Comma,
                _ => {
                    let message = format!("`{}` has several marks", shortened(cell));
                    return Err(context.refuse(Code::CsvMixedDecimals, Place::Line(row.line), message));
                }
            };
            if mark == Decimal::Comma && separator == b',' {
                let message =
                    format!("`{}` has a comma in a file that is separated by commas", shortened(cell));
                return Err(context.refuse(Code::CsvDecimalComma, Place::Line(row.line), message));
            }
            if found.is_some_and(|before| before != mark) {
                let message = format!("`{}` has another decimal mark than a number above", shortened(cell));
                return Err(context.refuse(Code::CsvMixedDecimals, Place::Line(row.line), message));
            }
            found = Some(mark);
        }
    }
    Ok(found.unwrap_or(Decimal::Point))
}

/// The measures of a row, with what is wrong told.
fn measures(
    row: &Row,
    columns: &[Option<Column>],
    decimal: Decimal,
    level: Level,
    context: &mut Context<'_>,
) -> Vec<(Measure, f64)> {
    let mut found = Vec::new();
    for (cell, column) in row.cells.iter().zip(columns) {
        if cell.is_empty() {
            continue;
        }
        let (measure, value) = match column {
            Some(Column::Number(measure, factor)) => {
                (*measure, number(cell, decimal).map(|value| value * factor))
            }
            Some(Column::Clock(measure)) => {
                let hours = if *measure == Measure::Sleep { 3_600.0 } else { 1.0 };
                (*measure, clock(cell).map(|seconds| seconds / hours))
            }
            Some(Column::Date | Column::Start | Column::Sport | Column::Remark) | None => continue,
        };
        match value {
            Some(value) if measure.level() == level => found.push((measure, value)),
            // A column of the other level is as good as unknown.
            Some(_) => {}
            None => {
                let message = format!("`{}` as {}", shortened(cell), measure.name());
                context.warn(Code::BadNumber, Place::Line(row.line), message);
            }
        }
    }
    found
}

fn number(cell: &str, decimal: Decimal) -> Option<f64> {
    let text = if decimal == Decimal::Comma { cell.replace(',', ".") } else { cell.to_owned() };
    // `inf`, `nan` and `1e9` are no numbers that a person writes here.
    let plain = text.bytes().all(|byte| byte.is_ascii_digit() || b".-+".contains(&byte));
    plain.then(|| text.parse().ok()).flatten()
}

/// Seconds of `1:02:03` or `62:03`.
fn clock(cell: &str) -> Option<f64> {
    let parts: Option<Vec<f64>> = cell.split(':').map(|part| number(part, Decimal::Point)).collect();
    match parts?[..] {
        [hours, minutes, seconds] if minutes < 60.0 && seconds < 60.0 => {
            Some(hours * 3_600.0 + minutes * 60.0 + seconds)
        }
        [minutes, seconds] if seconds < 60.0 => Some(minutes * 60.0 + seconds),
        _ => None,
    }
}

fn cell<'a>(row: &'a Row, columns: &[Option<Column>], wanted: Column) -> &'a str {
    let at = columns.iter().position(|column| *column == Some(wanted));
    at.and_then(|at| row.cells.get(at)).map_or("", |cell| cell)
}

fn day(
    row: &Row,
    columns: &[Option<Column>],
    decimal: Decimal,
    context: &mut Context<'_>,
    drafts: &mut Drafts,
) {
    let text = cell(row, columns, Column::Date);
    let date: Date = match date(text) {
        Ok(date) => date,
        Err(code) => return context.warn(code, Place::Line(row.line), format!("`{}`", shortened(text))),
    };
    for (measure, value) in measures(row, columns, decimal, Level::Day, context) {
        drafts.days.push(DraftDay { date, measure, value, place: Place::Line(row.line) });
    }
}

fn activity(
    row: &Row,
    columns: &[Option<Column>],
    decimal: Decimal,
    context: &mut Context<'_>,
) -> Option<Draft> {
    let place = Place::Line(row.line);
    let text = cell(row, columns, Column::Start);
    let (start, clock) = match Draft::starts(text, context) {
        Ok(found) => found,
        Err(code) => {
            context.warn(code, place, format!("`{}`", shortened(text)));
            return None;
        }
    };
    let found = measures(row, columns, decimal, Level::Activity, context);
    let measures = found.into_iter().map(|(measure, value)| (measure, value, place.clone())).collect();
    let sport = Sport::named(&shortened(cell(row, columns, Column::Sport)));
    Some(Draft { start, clock, sport, measures, samples: Vec::new(), place })
}

/// What a problem quotes of a cell.
fn shortened(text: &str) -> String {
    const QUOTED: usize = 60;
    if text.chars().count() <= QUOTED {
        return text.to_owned();
    }
    text.chars().take(QUOTED).chain(['…']).collect()
}
