//! Problems in a file, with line and column. This module only collects problems that other modules find.

use std::fmt;

use crate::bounds;
use crate::item::Item;
use crate::yaml::Position;

/// A problem at a place in a configuration file: `workflow.yaml:12:5: unknown key `agnets` (did you mean `agents`?)`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problem {
    pub file: String,
    /// Line of the problem in the configuration file, from 1.
    pub line: u64,
    /// Column of the problem in the configuration file, from 1, in characters.
    pub column: u64,
    /// Path of the problem in the document, such as `phases[1].agent`. Empty if the problem is about the whole
    /// document.
    pub path: String,
    pub message: String,
    /// Known key or name that the text with the problem seems to misspell.
    pub suggestion: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.file, self.line, self.column, self.message)?;
        if let Some(suggestion) = &self.suggestion {
            write!(f, " (did you mean `{suggestion}`?)")?;
        }
        Ok(())
    }
}

/// Collects the problems of one configuration file while the file is read.
pub(crate) struct Problems {
    file: String,
    list: Vec<Problem>,
    /// Name of the workflow that this file extends, and the position of the file's key `extends`.
    base: Option<(String, Position)>,
}

impl Problems {
    pub(crate) fn for_file(file: &str) -> Self {
        Self { file: file.to_owned(), list: Vec::new(), base: None }
    }

    /// Sets the name of the workflow that the file extends. Problems in the extended workflow are reported at the
    /// position of `extends`.
    pub(crate) fn extends(&mut self, base: &str, place: Position) {
        self.base = Some((base.to_owned(), place));
    }

    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn at(&mut self, item: &Item<'_>, message: impl Into<String>) {
        self.push(item.node.place, item.path.clone(), message.into(), None);
    }

    /// Reports an unknown name or key in a YAML value. Suggests a similar name among the existing `candidates`.
    pub(crate) fn unknown<'c>(
        &mut self,
        item: &Item<'_>,
        name: &str,
        message: impl Into<String>,
        candidates: impl IntoIterator<Item = &'c str>,
    ) {
        let suggestion = crate::suggest::nearest(name, candidates).map(str::to_owned);
        self.push(item.node.place, item.path.clone(), message.into(), suggestion);
    }

    /// Reports a problem at a position without a YAML value, for example in a text that is not YAML.
    pub(crate) fn push(
        &mut self,
        place: Position,
        path: String,
        message: String,
        suggestion: Option<String>,
    ) {
        let file = self.file.clone();
        let (Position { line, column, .. }, message) = match &self.base {
            Some((base, at)) if place.inherited => {
                (*at, format!("in the workflow `{base}`, line {}: {message}", place.line))
            }
            Some(_) | None => (place, message),
        };
        self.list.push(Problem { file, line, column, path, message, suggestion });
    }

    /// Returns the value that was read from the file if no problem was reported. Otherwise returns the problems, sorted
    /// by their positions.
    pub(crate) fn finish<T>(mut self, value: Option<T>) -> Result<T, Vec<Problem>> {
        self.list.sort_by_key(|problem| (problem.line, problem.column));
        self.list.truncate(bounds::PROBLEMS);
        match value {
            Some(value) if self.list.is_empty() => Ok(value),
            _ => Err(self.list),
        }
    }
}
