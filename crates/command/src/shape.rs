//! The shape of a command: what a grant remembers of its options.
//!
//! Two commands have the same shape when they differ only in their operands and in option values that do not change
//! what the command does, such as a message.

use crate::reads::Known;
use crate::tables::writes;
use crate::{Expansion, Part, options, programs};

impl Part {
    /// The options of the line, each with its value unless that says nothing, and the files that it adds to. Sorted where
    /// a row knows the program, and in order where none does. `None` where nobody can tell: what a file pattern becomes may
    /// be an option.
    pub fn shape(&self) -> Option<Vec<String>> {
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
                let mut options: Vec<String> = before
                    .into_iter()
                    .chain(given.options.into_iter().map(|(name, value)| told(name, value)))
                    .collect();
                options.sort();
                options.dedup();
                options
            }
            None if self.expansion() == Expansion::Anything => return None,
            None => as_written(&self.arguments),
        };
        shape.extend(self.appended.iter().map(|file| format!(">> {file}")));
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
    let pairs = words.iter().enumerate().filter(|(_, word)| is_option(word));
    pairs
        .map(|(at, word)| match words.get(at + 1).filter(|next| !is_option(next) && !word.contains('=')) {
            Some(next) => format!("{word} {next}"),
            None => word.clone(),
        })
        .collect()
}

impl Part {
    /// The words that are no options, in order, where they say what the command does: `x` of `tar x a`. Where no row
    /// knows the program, options are among them, for what they mean may depend on where they stand. `None`: they are
    /// files or texts, and a grant covers any.
    pub fn told_operands(&self) -> Option<Vec<String>> {
        let targets_are_told = programs::is_build_tool(&self.program);
        if targets_are_told || self.known() == Known::Reads {
            return None;
        }
        let named = self.named_words();
        let words = self.arguments.get(named..).unwrap_or_default();
        let expansions = self.expansions.get(named..).unwrap_or_default();
        let name: Vec<&str> = match self.arguments.as_slice() {
            [flag, module, ..] if flag == "-m" && programs::is_interpreter(&self.program) => vec![module],
            _ => std::iter::once(self.program.as_str())
                .chain(self.arguments[self.begins()..named].iter().map(String::as_str))
                .collect(),
        };
        let told = match writes::told_words(&name.join(" ")) {
            Some(0) => return None,
            Some(many) => many,
            None => usize::MAX,
        };
        let by_row = writes::of(&self.program, &self.arguments[self.begins()..])
            .and_then(|(row, _)| options::read(row, words, expansions))
            .map(|given| given.operands.into_iter().map(|(_, word)| word.to_owned()).collect::<Vec<_>>());
        let operands = by_row.unwrap_or_else(|| words.to_vec());
        Some(operands.into_iter().take(told).collect())
    }

    /// How many words name the subcommand, with what stands before it.
    fn named_words(&self) -> usize {
        let Some(sub) = self.subcommand() else { return 0 };
        let many = match self.arguments.first() {
            // A script's name may hold spaces.
            Some(first) if programs::is_interpreter(&self.program) && first != "-m" => 1,
            Some(_) | None => sub.split(' ').count(),
        };
        (self.begins() + many).min(self.arguments.len())
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}
