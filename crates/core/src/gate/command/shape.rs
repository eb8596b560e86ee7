//! The shape of a command: what a grant remembers of its options.
//!
//! Two commands of one shape differ in their operands alone, and in values that say nothing about what they do.

use super::tables::writes;
use super::{Expansion, Part, options, programs};

impl Part {
    /// The options of the line, sorted, each with its value unless that says nothing. `None` where nobody can tell:
    /// what a file pattern becomes may be an option.
    pub(in crate::gate) fn shape(&self) -> Option<Vec<String>> {
        let begins = match programs::with_subcommands(&self.program) {
            Some(known) => self.arguments.len() - known.after_options(&self.arguments)?.len(),
            None => 0,
        };
        let words = &self.arguments[begins..];
        let expansions = self.expansions.get(begins..).unwrap_or_default();
        let by_row = writes::of(&self.program, words).and_then(|(row, named)| {
            options::read(row, words.get(named..)?, expansions.get(named..).unwrap_or_default())
        });
        // What stands before the subcommand names folders and configuration.
        let mut shape: Vec<String> = match by_row {
            Some(given) => {
                let before = as_written(&self.arguments[..begins]);
                before
                    .into_iter()
                    .chain(given.options.into_iter().map(|(name, value)| told(name, value)))
                    .collect()
            }
            None if self.expansion() == Expansion::Anything => return None,
            None => as_written(&self.arguments),
        };
        shape.sort();
        shape.dedup();
        Some(shape)
    }
}

fn told(name: String, value: Option<&str>) -> String {
    match (name.strip_suffix('*'), value) {
        (Some(name), _) => name.to_owned(),
        (None, Some(value)) => format!("{name}={value}"),
        (None, None) => name,
    }
}

/// Of a program without a row nobody knows which option takes the next word: each keeps it.
fn as_written(words: &[String]) -> Vec<String> {
    let is_option = |word: &String| word.len() > 1 && word.starts_with(['-', '+']);
    let pairs = words.iter().enumerate().filter(|(_, word)| is_option(word));
    pairs
        .map(|(at, word)| match words.get(at + 1).filter(|next| !is_option(next) && !word.contains('=')) {
            Some(next) => format!("{word} {next}"),
            None => word.clone(),
        })
        .collect()
}
