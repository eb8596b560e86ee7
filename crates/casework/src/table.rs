//! A table: the cells of the columns that are read, row by row. Separated by `,`, `;` or tabs.

use csv_core::ReadFieldResult;

use crate::limits;
use crate::problem::{Code, Problem, Problems};

/// A column that is read.
pub(crate) struct Column {
    pub name: &'static str,
    /// Whether the header must have it.
    pub required: bool,
}

/// A table as it is read: where each column stands, and its rows.
pub(crate) struct Table {
    pub file: &'static str,
    columns: &'static [Column],
    /// The place of each column in a row.
    places: Vec<Option<usize>>,
    pub rows: Vec<Row>,
}

pub(crate) struct Row {
    /// From 1, the header's.
    pub line: u64,
    cells: Vec<String>,
}

impl Table {
    pub(crate) fn read(
        file: &'static str,
        bytes: &[u8],
        columns: &'static [Column],
        most: usize,
        problems: &mut Problems,
    ) -> Option<Self> {
        if bytes.len() > limits::FILE_BYTES {
            problems.of_file(file, Code::FileTooLarge, format!("at most {} bytes", limits::FILE_BYTES));
            return None;
        }
        let Ok(text) = std::str::from_utf8(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)) else {
            problems.of_file(file, Code::NotUtf8, "");
            return None;
        };
        let mut table = Self { file, columns, places: Vec::new(), rows: Vec::new() };
        let before = problems.first.len() + problems.more;
        let rows = rows(file, text, most, problems)?;
        let mut rows = rows.into_iter();
        let Some(header) = rows.next() else {
            problems.of_file(file, Code::Empty, "");
            return None;
        };
        table.header(&header, problems);
        let width = header.cells.len();
        for row in rows {
            if row.cells.len() == width {
                table.rows.push(row);
            } else {
                let message = format!("{} cells below {width} names", row.cells.len());
                problems.push(Problem { file, line: row.line, column: None, code: Code::Cells, message });
            }
        }
        (problems.first.len() + problems.more == before).then_some(table)
    }

    fn header(&mut self, header: &Row, problems: &mut Problems) {
        let name_of = |cell: &String| cell.trim().to_lowercase().replace([' ', '-'], "_");
        let names: Vec<String> = header.cells.iter().map(name_of).collect();
        for column in self.columns {
            let mut places =
                names.iter().enumerate().filter(|(_, name)| *name == column.name).map(|(at, _)| at);
            let place = places.next();
            let file = self.file;
            if let Some(again) = places.next() {
                let column = Some((again + 1, column.name));
                problems.push(Problem {
                    file,
                    line: header.line,
                    column,
                    code: Code::ColumnTwice,
                    message: String::new(),
                });
            }
            if place.is_none() && column.required {
                let message = format!("`{}`", column.name);
                problems.push(Problem {
                    file,
                    line: header.line,
                    column: None,
                    code: Code::MissingColumn,
                    message,
                });
            }
            self.places.push(place);
        }
    }

    /// A cell of a row without spaces around it; empty where the table has no such column.
    pub(crate) fn cell<'r>(&self, row: &'r Row, name: &str) -> &'r str {
        let at = self.columns.iter().position(|column| column.name == name);
        let place = at.and_then(|at| self.places.get(at).copied().flatten());
        place.and_then(|place| row.cells.get(place)).map_or("", |cell| cell.trim())
    }

    /// Says what is wrong with a cell.
    pub(crate) fn flaw(&self, row: &Row, name: &'static str, code: Code, problems: &mut Problems) {
        let at = self.columns.iter().position(|column| column.name == name);
        let place = at.and_then(|at| self.places.get(at).copied().flatten());
        let column = place.map(|place| (place + 1, name));
        problems.push(Problem { file: self.file, line: row.line, column, code, message: String::new() });
    }

    /// The cell as a value; what is wrong is told, and nothing of it stays.
    pub(crate) fn value<T>(
        &self,
        row: &Row,
        name: &'static str,
        problems: &mut Problems,
        read: impl FnOnce(&str) -> Result<T, Code>,
    ) -> Option<T> {
        let cell = self.cell(row, name);
        let found = if cell.is_empty() { Err(Code::MissingValue) } else { read(cell) };
        found.map_err(|code| self.flaw(row, name, code, problems)).ok()
    }

    /// The same of a cell that may be empty, or whose column may be missing.
    pub(crate) fn maybe<T>(
        &self,
        row: &Row,
        name: &'static str,
        problems: &mut Problems,
        read: impl FnOnce(&str) -> Result<T, Code>,
    ) -> Option<T> {
        if self.cell(row, name).is_empty() { None } else { self.value(row, name, problems, read) }
    }
}

/// The one that the header has most of; a comma where it has none.
fn separator(header: &str) -> u8 {
    let count = |separator: u8| header.bytes().filter(|byte| *byte == separator).count();
    [b';', b'\t', b','].into_iter().max_by_key(|it| count(*it)).filter(|it| count(*it) > 0).unwrap_or(b',')
}

/// Row by row and cell by cell: what goes beyond a limit is not held.
fn rows(file: &'static str, text: &str, most: usize, problems: &mut Problems) -> Option<Vec<Row>> {
    let delimiter = separator(text.lines().next().unwrap_or_default());
    let mut reader = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
    let mut left = text.as_bytes();
    let mut rows: Vec<Row> = Vec::new();
    let (mut cells, mut cell, mut line) = (Vec::new(), Vec::new(), 1);
    let mut buffer = [0; 1_024];
    loop {
        // Before the first cell of a row: where it begins, below empty lines.
        if cells.is_empty() && cell.is_empty() {
            while let [end @ (b'\r' | b'\n'), rest @ ..] = left {
                reader.set_line(reader.line() + u64::from(*end == b'\n'));
                left = rest;
            }
            line = reader.line();
        }
        let (found, read, written) = reader.read_field(left, &mut buffer);
        left = &left[read..];
        cell.extend_from_slice(&buffer[..written]);
        if cell.len() > limits::CELL_BYTES {
            let message = format!("at most {} bytes", limits::CELL_BYTES);
            problems.push(Problem { file, line, column: None, code: Code::CellTooLong, message });
            return None;
        }
        let ends_row = match found {
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => continue,
            ReadFieldResult::Field { record_end } => record_end,
            ReadFieldResult::End => return Some(rows),
        };
        cells.push(String::from_utf8_lossy(&std::mem::take(&mut cell)).into_owned());
        if cells.len() > limits::COLUMNS {
            let message = format!("at most {} columns", limits::COLUMNS);
            problems.push(Problem { file, line, column: None, code: Code::Cells, message });
            return None;
        }
        if ends_row {
            // The header, and the rows below it.
            if rows.len() > most {
                problems.of_file(file, Code::TooManyRows, format!("at most {most}"));
                return None;
            }
            let row = Row { line, cells: std::mem::take(&mut cells) };
            if row.cells.iter().any(|cell| !cell.trim().is_empty()) {
                rows.push(row);
            }
        }
    }
}
