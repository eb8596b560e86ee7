//! Finds the places in the training data of each number that an agent writes.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use holdshort_presentation::prose::{Lookup, LookupResult};

use super::known_numbers::{Entry, KnownNumbers};
use super::scan;
use super::unit::Unit;
use super::unit_named;
use crate::report::limits::{FOUND, PLACES};
use crate::report::model::TrainingValue;

/// Looks up the numbers in texts of agents among the known numbers and in the training data. Collects those that are in
/// the training data.
pub(crate) struct NumberLookup {
    known: KnownNumbers,
    given: Vec<TrainingValue>,
    /// Values of the training data in `given`, as known numbers.
    values: KnownNumbers,
    by_entry: BTreeMap<Entry, Vec<usize>>,
    pub found: Vec<FoundNumber>,
}

/// A number as the agent wrote it in a text, with its places in the training data.
pub(crate) struct FoundNumber {
    pub written: String,
    pub places: Vec<TrainingValue>,
    /// Number of further places of the quoted number in the training data that are not listed.
    pub more: usize,
}

impl NumberLookup {
    pub(crate) fn new(known: KnownNumbers, given: Vec<TrainingValue>) -> Self {
        let (mut values, mut places) = (KnownNumbers::default(), BTreeMap::<Entry, Vec<usize>>::new());
        for (at, given) in given.iter().enumerate() {
            if let Some(entry) = values.add_in_unit_only(given.value, &given.unit) {
                places.entry(entry).or_default().push(at);
            }
        }
        Self { known, given, values, by_entry: places, found: Vec::new() }
    }

    /// Looks up a quoted number in the training data. `own` is the unit of the number if this unit is never converted,
    /// such as `days`. A single digit is not looked up, because it would be found too often.
    fn look_up(&mut self, written: &str, entries: &[Entry], own: Option<&str>) -> Option<LookupResult> {
        if written.chars().filter(char::is_ascii_digit).count() < 2 {
            return None;
        }
        let is_of_unit = |at: &usize| own.is_none_or(|own| is_one_unit(&self.given[*at].unit, own));
        let places = entries.iter().filter_map(|entry| self.by_entry.get(entry)).flatten().copied();
        let places: BTreeSet<usize> = places.filter(is_of_unit).collect();
        let named: Vec<TrainingValue> =
            places.iter().take(PLACES).map(|at| self.given[*at].clone()).collect();
        if named.is_empty() {
            return None;
        }
        let is_same = |found: &FoundNumber| found.written == written && found.places == named;
        if let Some(at) = self.found.iter().position(is_same) {
            return Some(LookupResult::Found(at));
        }
        if self.found.len() >= FOUND {
            return None;
        }
        self.found.push(FoundNumber {
            written: written.to_owned(),
            more: places.len() - named.len(),
            places: named,
        });
        Some(LookupResult::Found(self.found.len() - 1))
    }
}

impl Lookup for NumberLookup {
    fn marks(&mut self, text: &str, column: Option<&str>) -> Vec<(Range<usize>, LookupResult)> {
        let column = column.and_then(unit_named);
        let mut marks = Vec::new();
        for scan::Token { range, form } in scan::tokens(text) {
            let look = if self.known.has(&form, column) {
                let entries = self.values.entries(&form, column);
                // Units that are not converted are compared as words: "7 days" does not match an exertion of 7.
                let own = match &form {
                    scan::Form::Number { units, .. } if *units == [Unit::Other] => {
                        Some(scan::word_behind(text, range.end))
                    }
                    _ => None,
                };
                self.look_up(&text[range.clone()], &entries, own)
            } else {
                Some(LookupResult::Untraced)
            };
            marks.extend(look.map(|look| (range, look)));
        }
        marks
    }
}

/// Returns true if the unit of a value and the unit in a text are the same, such as `day` and `Days`. A value without a
/// unit matches every unit.
fn is_one_unit(given: &str, written: &str) -> bool {
    let one = |word: &str| word.trim().to_lowercase().trim_end_matches('s').to_owned();
    given.trim().is_empty() || one(given) == one(written)
}
