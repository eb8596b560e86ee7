//! Where the numbers that agents write stand in the training data.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use holdshort_presentation::prose::{Look, Lookup};

use super::known::{Entry, Known};
use super::scan;
use super::unit::Unit;
use super::unit_named;
use crate::report::limits::{FOUND, PLACES};
use crate::report::model::Given;

/// What numbers are looked up in, and which of them stand in the training data.
pub(crate) struct Places {
    known: Known,
    given: Vec<Given>,
    /// The values of [`Self::given`], and whose they are.
    values: Known,
    by_entry: BTreeMap<Entry, Vec<usize>>,
    pub found: Vec<Found>,
}

/// A number as it is written, and where it stands.
pub(crate) struct Found {
    pub written: String,
    pub places: Vec<Given>,
    /// Places that are not named.
    pub more: usize,
}

impl Places {
    pub(crate) fn new(known: Known, given: Vec<Given>) -> Self {
        let (mut values, mut places) = (Known::default(), BTreeMap::<Entry, Vec<usize>>::new());
        for (at, given) in given.iter().enumerate() {
            if let Some(entry) = values.measured(given.value, &given.unit) {
                places.entry(entry).or_default().push(at);
            }
        }
        Self { known, given, values, by_entry: places, found: Vec::new() }
    }

    /// The row of a number; `own`: the word of its unit, where that is one that nothing else is written in. One digit stands
    /// everywhere, and says nothing of where it is from.
    fn place(&mut self, written: &str, entries: &[Entry], own: Option<&str>) -> Option<Look> {
        if written.chars().filter(char::is_ascii_digit).count() < 2 {
            return None;
        }
        let is_of_unit = |at: &usize| own.is_none_or(|own| is_one_unit(&self.given[*at].unit, own));
        let places = entries.iter().filter_map(|entry| self.by_entry.get(entry)).flatten().copied();
        let places: BTreeSet<usize> = places.filter(is_of_unit).collect();
        let named: Vec<Given> = places.iter().take(PLACES).map(|at| self.given[*at].clone()).collect();
        if named.is_empty() {
            return None;
        }
        let is_same = |found: &Found| found.written == written && found.places == named;
        if let Some(at) = self.found.iter().position(is_same) {
            return Some(Look::Found(at));
        }
        if self.found.len() >= FOUND {
            return None;
        }
        self.found.push(Found {
            written: written.to_owned(),
            more: places.len() - named.len(),
            places: named,
        });
        Some(Look::Found(self.found.len() - 1))
    }
}

impl Lookup for Places {
    fn marks(&mut self, text: &str, column: Option<&str>) -> Vec<(Range<usize>, Look)> {
        let column = column.and_then(unit_named);
        let mut marks = Vec::new();
        for scan::Token { range, form } in scan::tokens(text) {
            let look = if self.known.has(&form, column) {
                let entries = self.values.entries(&form, column);
                // The words tell unknown units apart: 7 days are no exertion of 7.
                let own = match &form {
                    scan::Form::Number { units, .. } if *units == [Unit::Other] => {
                        Some(scan::word_behind(text, range.end))
                    }
                    _ => None,
                };
                self.place(&text[range.clone()], &entries, own)
            } else {
                Some(Look::Untraced)
            };
            marks.extend(look.map(|look| (range, look)));
        }
        marks
    }
}

/// Whether two words are one unit: `day` and `Days`. A value without a unit may be written with any.
fn is_one_unit(given: &str, written: &str) -> bool {
    let one = |word: &str| word.trim().to_lowercase().trim_end_matches('s').to_owned();
    given.trim().is_empty() || one(given) == one(written)
}
