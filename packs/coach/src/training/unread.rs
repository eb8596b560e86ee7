//! Summary of training data that could not be read, for the owner of the data. It has one line for each file and
//! problem code.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use crate::training::problem::{Code, Problem, Severity};
use crate::training::read::Reading;

/// Training data that could not be read. The numbers include problems that are not listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UnreadData {
    /// Number of training files, including refused files.
    pub files: usize,
    /// Number of refused training files.
    pub refused: usize,
    /// Problems of the training data: first those of refused files, then those of partly used files, then those that
    /// need no action.
    pub problems: Vec<UnreadProblem>,
    /// Number of problems of the training data that are not listed, by problem code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<&'static str, usize>,
}

/// A problem code of a training file, with the first place of the problem.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnreadProblem {
    #[serde(flatten)]
    pub problem: Problem,
    pub severity: Severity,
    /// Number of places in the training file at which the problem occurred.
    pub places: usize,
    pub what_to_do: &'static str,
}

impl Reading {
    /// Returns a summary of the training data that could not be read, with at most `most` listed problems.
    pub fn not_read(&self, most: usize) -> UnreadData {
        let mut first: BTreeMap<(u8, &str, Code), &Problem> = BTreeMap::new();
        for problem in &self.problems {
            first.entry((rank(problem.code), &*problem.source.file, problem.code)).or_insert(problem);
        }
        let count = |problem: &Problem| {
            self.counts.get(&(Arc::clone(&problem.source.file), problem.code)).copied().unwrap_or(1)
        };
        let is_refused = |problem: &&Problem| problem.severity() == Severity::Error;
        let refused: BTreeSet<&str> =
            self.problems.iter().filter(is_refused).map(|problem| &*problem.source.file).collect();
        let told = first.values().take(most).map(|problem| UnreadProblem {
            severity: problem.severity(),
            places: count(problem),
            what_to_do: problem.code.what_to_do(),
            problem: (*problem).clone(),
        });
        let problems: Vec<UnreadProblem> = told.collect();
        let named: BTreeSet<(&str, Code)> =
            problems.iter().map(|told| (&*told.problem.source.file, told.problem.code)).collect();
        let mut more = BTreeMap::new();
        for ((file, code), count) in &self.counts {
            if !named.contains(&(&**file, *code)) {
                *more.entry(code.name()).or_default() += count;
            }
        }
        UnreadData { files: self.files, refused: refused.len(), problems, more }
    }
}

/// Returns the rank by which problems of training data are sorted: 0 for refused files, and the largest for problems
/// that need no action.
fn rank(code: Code) -> u8 {
    match code.severity() {
        Severity::Error => 0,
        Severity::Warning if code.what_to_do().starts_with("No action needed:") => 2,
        Severity::Warning => 1,
    }
}

impl UnreadData {
    pub const fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }
}
