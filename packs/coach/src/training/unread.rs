//! What was not read, for the person whose data it is: a line for each file and each thing that is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;

use crate::training::problem::{Code, Problem, Severity};
use crate::training::read::Reading;

/// What was not read of some files, counted whatever is named of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct NotRead {
    /// Files that were there.
    pub files: usize,
    /// Those of which nothing counts.
    pub refused: usize,
    /// Refused files first, then those that count without something, and last what nobody has to do anything about.
    pub problems: Vec<Told>,
    /// Further ones by their code.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<&'static str, usize>,
}

/// A code of a file, with the first place where it was met.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    #[serde(flatten)]
    pub problem: Problem,
    pub severity: Severity,
    /// How often it was met in the file.
    pub places: usize,
    pub what_to_do: &'static str,
}

impl Reading {
    /// What was not read, with at most so many lines.
    pub fn not_read(&self, most: usize) -> NotRead {
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
        let told = first.values().take(most).map(|problem| Told {
            severity: problem.severity(),
            places: count(problem),
            what_to_do: problem.code.what_to_do(),
            problem: (*problem).clone(),
        });
        let problems: Vec<Told> = told.collect();
        let named: BTreeSet<(&str, Code)> =
            problems.iter().map(|told| (&*told.problem.source.file, told.problem.code)).collect();
        let mut more = BTreeMap::new();
        for ((file, code), count) in &self.counts {
            if !named.contains(&(&**file, *code)) {
                *more.entry(code.name()).or_default() += count;
            }
        }
        NotRead { files: self.files, refused: refused.len(), problems, more }
    }
}

/// What nobody has to do anything about comes last.
fn rank(code: Code) -> u8 {
    match code.severity() {
        Severity::Error => 0,
        Severity::Warning if code.what_to_do().starts_with("Nothing:") => 2,
        Severity::Warning => 1,
    }
}

impl NotRead {
    pub const fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }
}
