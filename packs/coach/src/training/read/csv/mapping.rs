//! Mapping from the headers in `docs/training.md` to the headers in a person's own tables. A person states it with
//! `--columns`, or in the configuration under the key `columns`.

use super::columns::{Column, HeaderError, plain};
use super::dates::DateOrder;
use super::numbers::Decimal;

/// Mapping of columns for tables whose headers are not in `docs/training.md`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnMap {
    /// Mapped table columns, each with its normalized header, its header as the person wrote it, and its content.
    columns: Vec<(String, String, Column)>,
    pub(super) decimal: Option<Decimal>,
    pub(super) order: Option<DateOrder>,
}

/// Name in a mapping that states the decimal mark of the cells and not a column.
const DECIMAL: &str = "decimal";
const DATES: &str = "dates";

impl ColumnMap {
    /// Creates a mapping of columns from pairs. A pair consists of a header in `docs/training.md` and a header in the
    /// table. Two names are not headers: `decimal` (`,` or `.`) and `dates` (`dmy`, `mdy` or `ymd`) state the format of
    /// the cells.
    ///
    /// # Errors
    /// Returns a sentence about the first wrong pair.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut map = Self::default();
        for (name, header) in pairs {
            map.add(name.trim(), header.trim())?;
        }
        let has = |wanted: Column| map.columns.iter().any(|(_, _, column)| *column == wanted);
        if !map.columns.is_empty() && has(Column::Date) == has(Column::Start) {
            let named =
                if has(Column::Date) { "both `date` and `start`" } else { "neither `date` nor `start`" };
            return Err(format!("`columns` names {named}: name exactly one of the two"));
        }
        Ok(map)
    }

    fn add(&mut self, name: &str, header: &str) -> Result<(), String> {
        match name {
            DECIMAL => {
                let mark = match header {
                    "," => Decimal::Comma,
                    "." => Decimal::Point,
                    _ => {
                        return Err(format!(
                            "`columns` sets `decimal` to `{header}`: write `decimal=,` or `decimal=.`"
                        ));
                    }
                };
                self.decimal = Some(mark);
                return Ok(());
            }
            DATES => {
                let order = DateOrder::ALL.iter().find(|(order, _)| *order == header);
                let (_, order) = order.ok_or_else(|| {
                    format!(
                        "`columns` sets `dates` to `{header}`: write the order of day, month and year as \
                        `dmy`, `mdy` or `ymd`"
                    )
                })?;
                self.order = Some(*order);
                return Ok(());
            }
            _ => {}
        }
        if header.is_empty() {
            return Err(format!("`columns` names no header for `{name}`: write {name}=HEADER"));
        }
        let column = Column::from_header(name).map_err(|error| match error {
            HeaderError::Unknown => {
                format!(
                    "`columns` contains `{name}`, which is not a known column name: write a name such as \
                    `start` or `distance_km`"
                )
            }
            HeaderError::Unit(units) => {
                format!("`columns` contains `{name}` without a known unit: write one of {units}")
            }
        })?;
        let header_plain = plain(header);
        let is_twice = |(other, _, kind): &(String, String, Column)| {
            *other == header_plain || kind.kind() == column.kind()
        };
        if self.columns.iter().any(is_twice) {
            return Err(format!(
                "`columns` contains `{name}={header}`, but an earlier entry has the same header or measure: \
                remove one of the two"
            ));
        }
        self.columns.push((header_plain, header.to_owned(), column));
        Ok(())
    }

    /// Returns the content of each column of a table, or `None` if the table lacks a header of the mapping. Columns
    /// that are not mapped become remarks.
    pub(super) fn columns(&self, headers: &[String]) -> Option<Vec<Column>> {
        let plain: Vec<String> = headers.iter().map(|header| plain(header)).collect();
        let is_there = |(header, ..): &(String, String, Column)| plain.iter().any(|each| each == header);
        if self.columns.is_empty() || !self.columns.iter().all(is_there) {
            return None;
        }
        let content = |header: &String| {
            let found = self.columns.iter().find(|(mapped, ..)| mapped == header);
            found.map_or(Column::Remark, |(_, _, column)| *column)
        };
        Some(plain.iter().map(content).collect())
    }

    /// Returns the headers of the mapping of columns that a table lacks, as the person wrote them.
    pub(super) fn missing(&self, headers: &[String]) -> Vec<&str> {
        let plain: Vec<String> = headers.iter().map(|header| plain(header)).collect();
        let missing = self.columns.iter().filter(|(header, ..)| !plain.contains(header));
        missing.map(|(_, written, _)| &**written).collect()
    }
}
