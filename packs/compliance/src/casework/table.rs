//! Reads the known columns of a table row by row. Cells are separated by `,`, `;` or tabs.

use crate::casework::limits;
use crate::casework::problem::{Code, Problem, Problems};

/// A column that the reader of a table expects.
pub(crate) struct Column {
    pub name: &'static str,
    pub required: bool,
}

/// A table of a case: its rows, and the positions of the expected columns.
pub(crate) struct Table {
    pub file: &'static str,
    columns: &'static [Column],
    /// Position of each expected column in a row of the table. `None` for a missing optional column.
    places: Vec<Option<usize>>,
    pub rows: Vec<Row>,
}

pub(crate) struct Row {
    /// Line number of the row in the file. The header is line 1.
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
                let message =
                    format!("the row has {} cells, but the header has {width} columns", row.cells.len());
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

    /// Returns the trimmed cell of a row in the column `name`, or an empty text if the table lacks the column.
    pub(crate) fn cell<'r>(&self, row: &'r Row, name: &str) -> &'r str {
        let at = self.columns.iter().position(|column| column.name == name);
        let place = at.and_then(|at| self.places.get(at).copied().flatten());
        place.and_then(|place| row.cells.get(place)).map_or("", |cell| cell.trim())
    }

    pub(crate) fn flaw(&self, row: &Row, name: &'static str, code: Code, problems: &mut Problems) {
        let at = self.columns.iter().position(|column| column.name == name);
        let place = at.and_then(|at| self.places.get(at).copied().flatten());
        let column = place.map(|place| (place + 1, name));
        problems.push(Problem { file: self.file, line: row.line, column, code, message: String::new() });
    }

    /// Parses a required cell of the table. Reports an empty or invalid cell and returns `None`.
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

    /// Parses a cell of the table that may be empty or missing. Reports an invalid cell.
    pub(crate) fn optional_value<T>(
        &self,
        row: &Row,
        name: &'static str,
        problems: &mut Problems,
        read: impl FnOnce(&str) -> Result<T, Code>,
    ) -> Option<T> {
        if self.cell(row, name).is_empty() { None } else { self.value(row, name, problems, read) }
    }
}

/// Returns the most frequent separator in the header line of a table, or a comma if there is none.
fn separator(header: &str) -> char {
    let count = |separator: char| header.matches(separator).count();
    [';', '\t', ','].into_iter().max_by_key(|it| count(*it)).filter(|it| count(*it) > 0).unwrap_or(',')
}

/// Reads the rows of a table and their cells one by one, so that content beyond a limit is never in memory. Each line
/// is one row, even if a quote is open: otherwise an unclosed quote would hide the following rows. No value contains a
/// line break.
fn rows(file: &'static str, text: &str, most: usize, problems: &mut Problems) -> Option<Vec<Row>> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    let mut lines = text.split(end).map(|line| line.trim_end_matches('\r')).peekable();
    let separator = separator(lines.peek().copied().unwrap_or_default());
    let mut rows: Vec<Row> = Vec::new();
    for (line, text) in (1..).zip(lines) {
        let cells = match cells(text, separator) {
            Ok(cells) => cells,
            Err((code, message)) => {
                problems.push(Problem { file, line, column: None, code, message });
                // After a wrong header, the reader stops: without a header, the other rows have no meaning.
                if rows.is_empty() {
                    return None;
                }
                continue;
            }
        };
        if cells.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        // `rows` includes the header.
        if rows.len() > most {
            problems.of_file(file, Code::TooManyRows, format!("at most {most}"));
            return None;
        }
        rows.push(Row { line, cells });
    }
    Some(rows)
}

/// Splits a line of a table into cells. Returns an error if a quote is ambiguous.
fn cells(line: &str, separator: char) -> Result<Vec<String>, (Code, String)> {
    let wrong = |message: &str| (Code::Cells, message.to_owned());
    let (mut cells, mut left) = (Vec::new(), line);
    loop {
        let (cell, rest) = match left.strip_prefix('"') {
            None => {
                let (cell, rest) = left.split_at(left.find(separator).unwrap_or(left.len()));
                if cell.contains('"') {
                    return Err(wrong("a cell contains a quote but does not begin with one"));
                }
                (cell.to_owned(), rest)
            }
            Some(quoted) => unquoted(quoted).ok_or_else(|| wrong("a quote is not closed on its line"))?,
        };
        if cell.contains('\r') {
            return Err(wrong("a cell has a line break"));
        }
        if cell.len() > limits::CELL_BYTES {
            return Err((Code::CellTooLong, format!("at most {} bytes", limits::CELL_BYTES)));
        }
        cells.push(cell);
        if cells.len() > limits::COLUMNS {
            return Err((Code::Cells, format!("at most {} columns", limits::COLUMNS)));
        }
        if rest.is_empty() {
            return Ok(cells);
        }
        left = rest.strip_prefix(separator).ok_or_else(|| wrong("text follows a closing quote"))?;
    }
}

/// Returns the text of a quoted table cell, and the rest of the line. Two quotes in a row stand for one.
fn unquoted(quoted: &str) -> Option<(String, &str)> {
    let (mut cell, mut left) = (String::new(), quoted);
    loop {
        let (text, rest) = left.split_once('"')?;
        cell.push_str(text);
        let Some(more) = rest.strip_prefix('"') else { return Some((cell, rest)) };
        cell.push('"');
        left = more;
    }
}
