//! Shape of a command: the options that a grant records.

use crate::reads::TableVerdict;
use crate::tables::writes;
use crate::{Expansion, Part, options, programs};

impl Part {
    /// Returns the options of the command, their values if these change what it does, and the files to which it
    /// appends. The options are sorted if the tables contain the program, and otherwise in the order of the line.
    /// Returns `None` if a file pattern may expand to an option, or if an option before the subcommand is unknown.
    pub fn shape(&self) -> Option<Vec<String>> {
        let begins = match programs::with_subcommands(&self.program) {
            Some(known) => self.arguments.len() - known.after_options(&self.arguments)?.len(),
            None => 0,
        };
        let words = &self.arguments[begins..];
        let expansions = self.expansions.get(begins..).unwrap_or_default();
        let by_row = writes::find_row(&self.program, words).and_then(|(row, named)| {
            options::read(row, words.get(named..)?, expansions.get(named..).unwrap_or_default())
        });
        // The options before the subcommand select folders and configuration.
        let mut shape: Vec<String> = match by_row {
            Some(given) => {
                let before = as_written(&self.arguments[..begins]);
                let mut options: Vec<String> = before
                    .into_iter()
                    .chain(given.options.into_iter().map(|(name, value)| format_option(name, value)))
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

fn format_option(name: String, value: Option<&str>) -> String {
    match (name.strip_suffix('*'), value) {
        (Some(name), _) => name.to_owned(),
        (None, Some(value)) => format!("{name}={value}"),
        (None, None) => name,
    }
}

/// Returns the options as they are in the line, for a program that the tables do not contain. Each includes the next
/// word if this word may be its value.
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
    /// Returns the operands of the command, in order, if they determine what the command does: `x` in `tar x a`.
    /// Includes the options if the tables of programs do not contain the program, because their meaning may depend on
    /// their place. Returns `None` if the operands are only files or texts; a grant then allows any operands.
    pub fn told_operands(&self) -> Option<Vec<String>> {
        let targets_are_told = programs::is_build_tool(&self.program);
        if targets_are_told || self.table_verdict() == TableVerdict::Reads {
            return None;
        }
        let named = self.named_words();
        let words = self.arguments.get(named..).unwrap_or_default();
        let expansions = self.expansions.get(named..).unwrap_or_default();
        let name: Vec<&str> = match self.arguments.as_slice() {
            [flag, module, ..] if flag == "-m" && programs::is_interpreter(&self.program) => vec![module],
            _ => std::iter::once(self.program.as_str())
                .chain(self.arguments[self.subcommand_index()..named].iter().map(String::as_str))
                .collect(),
        };
        let told = match writes::told_words(&name.join(" ")) {
            Some(0) => return None,
            Some(many) => many,
            None => usize::MAX,
        };
        let by_row = writes::find_row(&self.program, &self.arguments[self.subcommand_index()..])
            .and_then(|(row, _)| options::read(row, words, expansions))
            .map(|given| given.operands.into_iter().map(|(_, word)| word.to_owned()).collect::<Vec<_>>());
        let operands = by_row.unwrap_or_else(|| words.to_vec());
        Some(operands.into_iter().take(told).collect())
    }

    /// Returns the number of the command's words up to and including the subcommand.
    fn named_words(&self) -> usize {
        let Some(sub) = self.subcommand() else { return 0 };
        let many = match self.arguments.first() {
            // The name of a script may contain spaces, so it is always one word.
            Some(first) if programs::is_interpreter(&self.program) && first != "-m" => 1,
            Some(_) | None => sub.split(' ').count(),
        };
        (self.subcommand_index() + many).min(self.arguments.len())
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}
