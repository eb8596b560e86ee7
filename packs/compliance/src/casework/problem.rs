//! Problems in a case. Each has a stable code, a place, and a sentence of advice for the owner of the case. Wrong
//! values are not quoted, because they may be personal data.

use std::fmt;

use serde::Serialize;

use crate::casework::limits;
use holdshort_tools::named;

/// Sentence of advice about a problem for the owner of the case.
struct Row(&'static str);

named! {
    /// Reason why a compliance case cannot be read. Texts and names are stable: later versions do not change them.
    Code: Row;
    MissingFile "missing_file" ("Add the file to the folder of the case. A table may consist of its header only.")
    Link "link" ("Copy the file into the folder of the case: links are not followed.")
    FileTooLarge "file_too_large" ("Split the case by days or customers.")
    TooManyRows "too_many_rows" ("Split the case by days or customers.")
    TooManyNames "too_many_names" ("Split the case, or shorten the watch list. Every name is compared with every entry.")
    NotUtf8 "not_utf8" ("Save the file as UTF-8.")
    Empty "empty" ("Name the columns in the first line.")
    MissingColumn "missing_column" ("Add the column. The guide lists all columns.")
    ColumnTwice "column_twice" ("Keep only one of the columns with the same name.")
    Cells "cells" ("Give the row one cell for each column, on one line. Quote a cell with separators or quotes, and double its quotes.")
    CellTooLong "cell_too_long" ("Shorten the cell.")
    MissingValue "missing_value" ("Fill the cell.")
    BadAmount "bad_amount" ("Write a number above zero with at most two decimals, such as 1234.50 or 1.234,50.")
    AmbiguousAmount "ambiguous_amount" ("Write two decimals, such as 1234.00. A mark before three digits is ambiguous.")
    BadDate "bad_date" ("Write dates as 2026-03-01 and times as 2026-03-01T07:30:00Z.")
    FutureDate "future_date" ("Correct the date, or set a later day of the case.")
    UnknownCurrency "unknown_currency" ("Write a currency that has a rate in the rules, or add the rate to your own rules.yaml.")
    BadCountry "bad_country" ("Write two capital letters, such as DE.")
    BadWord "bad_word" ("Write one of the values that the guide lists for this column.")
    DuplicateId "duplicate_id" ("Give each row its own id: this id already exists.")
    UnknownCustomer "unknown_customer" ("Add the customer to customers.csv, or correct the cell.")
    BadRules "bad_rules" ("Correct rules.yaml: start from the file that `holdshort init compliance` writes.")
}

impl Code {
    pub const fn what_to_do(self) -> &'static str {
        self.row().0
    }
}

/// One problem in a compliance case, with its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    pub file: &'static str,
    /// Line number of the problem in the file, where the header is line 1. The number 0 means the whole file.
    pub line: u64,
    /// Column of the problem: its number, from 1, and its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<(usize, &'static str)>,
    pub code: Code,
    /// Details of the problem in the case, without any text from the file.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.file)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if let Some((number, name)) = self.column {
            write!(f, ": column {number} (`{name}`)")?;
        }
        write!(f, ": {}", self.code.name())?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        write!(f, ". {}", self.code.what_to_do())
    }
}

/// Problems in a compliance case: the first ones in full, and the number of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Problems {
    pub first: Vec<Problem>,
    pub more: usize,
}

impl Problems {
    pub(crate) fn push(&mut self, problem: Problem) {
        if self.first.len() < limits::PROBLEMS {
            self.first.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// Adds a problem that concerns a whole file of the case.
    pub fn of_file(&mut self, file: &'static str, code: Code, message: impl Into<String>) {
        self.push(Problem { file, line: 0, column: None, code, message: message.into() });
    }

    pub fn one(file: &'static str, code: Code, message: impl Into<String>) -> Self {
        let mut problems = Self::default();
        problems.of_file(file, code, message);
        problems
    }

    pub const fn is_empty(&self) -> bool {
        self.first.is_empty()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.first.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        if self.more > 0 {
            write!(f, "\nand {} more", self.more)?;
        }
        Ok(())
    }
}
