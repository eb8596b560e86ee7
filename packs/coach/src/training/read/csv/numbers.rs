//! Numbers in the cells of a table. Cells whose mark cannot be a thousands separator are evidence of the decimal mark.
//! Without evidence, it stays unknown.

use std::cmp::Ordering;

use crate::training::problem::Code;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decimal {
    Point,
    Comma,
}

impl Decimal {
    const fn mark(self) -> char {
        match self {
            Self::Point => '.',
            Self::Comma => ',',
        }
    }

    const fn other(self) -> Self {
        match self {
            Self::Point => Self::Comma,
            Self::Comma => Self::Point,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    /// Decimal mark of the numbers in the table. `None` if the cells are no evidence of it.
    decimal: Option<Decimal>,
    /// True if the decimal mark is unknown because as many cells show a point as show a comma, at least one each.
    is_mixed: bool,
    is_comma_separated: bool,
    /// True if the numbers in the table may have thousands separators.
    has_thousands: bool,
}

impl Numbers {
    /// Returns the format of a table's numbers with a given decimal mark, and without thousands separators.
    pub(super) const fn with_decimal(decimal: Decimal, separator: u8) -> Self {
        let decimal = Some(decimal);
        Self { decimal, is_mixed: false, is_comma_separated: separator == b',', has_thousands: false }
    }

    /// Determines the decimal mark from the cells of a table that contain numbers.
    ///
    /// A cell is evidence if its mark cannot be a thousands separator: `70,5`, `0.125` and `1234.567`, but not `1.234`.
    /// The mark with more evidence is the decimal mark. Without evidence, it is a point if commas separate the columns
    /// and no cell contains a comma.
    pub(super) fn from_cells<'a>(cells: impl Iterator<Item = &'a str>, separator: u8) -> Self {
        let is_comma_separated = separator == b',';
        let (mut sure, mut marks) = ([0_usize; 2], [0_usize; 2]);
        for cell in cells.filter(|cell| is_number(cell)) {
            for decimal in [Decimal::Point, Decimal::Comma] {
                marks[decimal as usize] += usize::from(cell.contains(decimal.mark()));
            }
            if let Some(decimal) = sure_mark(cell) {
                sure[decimal as usize] += 1;
            }
        }
        let points_by_separator = is_comma_separated && marks[Decimal::Comma as usize] == 0;
        let decimal = match sure[0].cmp(&sure[1]) {
            Ordering::Greater => Some(Decimal::Point),
            Ordering::Less => Some(Decimal::Comma),
            // Both marks have equal evidence. If commas separate the columns, a point is the decimal mark.
            Ordering::Equal if sure[0] > 0 => is_comma_separated.then_some(Decimal::Point),
            // If no cell has a mark, both decimal marks give the same numbers.
            Ordering::Equal => (points_by_separator || marks == [0, 0]).then_some(Decimal::Point),
        };
        let is_mixed = decimal.is_none() && sure[0] > 0;
        Self { decimal, is_mixed, is_comma_separated, has_thousands: false }
    }

    /// Uses the stated decimal mark if the cells of the table do not show it. The other mark then separates thousands.
    pub(super) const fn or_decimal(mut self, stated: Option<Decimal>) -> Self {
        if self.decimal.is_none() && !self.is_mixed && stated.is_some() {
            self.decimal = stated;
            self.has_thousands = true;
        }
        self
    }

    pub(super) const fn with_thousands(mut self) -> Self {
        self.has_thousands = true;
        self
    }

    /// Parses the number in a table cell. Returns an error if a mark in the number is ambiguous.
    pub(super) fn parse(self, cell: &str) -> Result<f64, Code> {
        let grouped = self.has_thousands.then(|| self.without_thousands(cell)).flatten();
        let cell = grouped.as_deref().unwrap_or(cell);
        if !is_number(cell) {
            // Notations such as `inf`, `nan` or `1e9` are rejected, because people do not write numbers in this way.
            return Err(Code::BadNumber);
        }
        let marks = cell.matches(['.', ',']).count();
        let has_comma = cell.contains(',');
        match self.decimal {
            _ if marks == 0 => {}
            Some(Decimal::Point) if has_comma && self.is_comma_separated => {
                return Err(Code::CsvDecimalComma);
            }
            Some(_) if marks > 1 => return Err(Code::CsvMixedDecimals),
            Some(decimal) if has_comma != (decimal == Decimal::Comma) => return Err(Code::CsvMixedDecimals),
            Some(_) => {}
            None if self.is_mixed || marks > 1 => return Err(Code::CsvMixedDecimals),
            None => return Err(Code::CsvUnsureDecimal),
        }
        cell.replace(',', ".").parse().map_err(|_| Code::BadNumber)
    }

    /// Returns the number in a table cell without its thousands separators, which must precede each group of three
    /// digits. A separator is a blank, an apostrophe, or the mark that is not the decimal mark.
    fn without_thousands(self, cell: &str) -> Option<String> {
        let decimal = self.decimal?;
        let (whole, fraction) = match cell.split_once(decimal.mark()) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (cell, None),
        };
        let separators = [decimal.other().mark(), ' ', '\u{a0}', '\u{202f}', '\'', '’'];
        let separator = whole.chars().find(|c| separators.contains(c))?;
        let mut groups = whole.trim_start_matches(['-', '+']).split(separator);
        let is_digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
        let is_first =
            |group: &&str| (1..=3).contains(&group.len()) && !group.starts_with('0') && is_digits(group);
        let first = groups.next().filter(is_first);
        let are_thousands = first.is_some() && groups.all(|group| group.len() == 3 && is_digits(group));
        let plain = whole.replace(separator, "");
        let fraction = fraction.map(|fraction| format!("{}{fraction}", decimal.mark())).unwrap_or_default();
        are_thousands.then(|| plain + &fraction)
    }
}

fn is_number(cell: &str) -> bool {
    !cell.is_empty() && cell.bytes().all(|byte| byte.is_ascii_digit() || b".,-+".contains(&byte))
}

/// Returns the decimal mark that a table cell proves. Returns `None` if the cell has no mark, or if the mark may be a
/// thousands separator.
fn sure_mark(cell: &str) -> Option<Decimal> {
    let at = cell.rfind(['.', ','])?;
    let decimal = if cell[at..].starts_with(',') { Decimal::Comma } else { Decimal::Point };
    let (before, behind) = (cell[..at].trim_start_matches(['-', '+']), &cell[at + 1..]);
    let others = before.matches(['.', ',']).count();
    if others > 0 {
        // In `1.234,5`, the last mark is the decimal mark. `1,234,567` has no decimal mark.
        let is_last = before.contains(decimal.other().mark()) && !before.contains(decimal.mark());
        return is_last.then_some(decimal);
    }
    let is_group = behind.len() == 3 && (1..=3).contains(&before.len()) && !before.starts_with('0');
    (!is_group).then_some(decimal)
}
