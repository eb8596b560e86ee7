//! Recognises commands that only read, by comparing their words with the rows of the tables.

use crate::shell::Expansion;
use crate::tables::{self, Operands, Row};
use crate::{Part, grammars, options, programs, working_directory};

/// Result of looking up a command in the tables of programs that only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TableVerdict {
    /// All words of the command are harmless, so the command only reads.
    Reads,
    /// The tables contain the command, but the command does or may do more than read.
    Otherwise,
    /// The tables contain the program, but do not list one of its options.
    Unknown,
    No,
}

impl Part {
    /// Returns true if the command certainly changes nothing. All other commands are treated as commands that write.
    pub fn is_read_only(&self) -> bool {
        !self.redirected && self.table_verdict() == TableVerdict::Reads
    }

    /// Looks up the command in the tables of programs that only read. Redirections are ignored.
    pub(crate) fn table_verdict(&self) -> TableVerdict {
        if self.tells_version() {
            return TableVerdict::Reads;
        }
        match grammars::reads(self) {
            Some(true) => return TableVerdict::Reads,
            Some(false) => return TableVerdict::Otherwise,
            None => {}
        }
        let (row, from) = match self.row() {
            Ok(found) => found,
            Err(known) => return known,
        };
        // If a file pattern may expand to the subcommand, it is unknown which subcommand runs.
        if (0..from).any(|at| self.expands(at)) {
            return TableVerdict::Unknown;
        }
        match self.fits(row, from) {
            Some(true) => TableVerdict::Reads,
            Some(false) => TableVerdict::Otherwise,
            // Forms that create a branch or a tag have options that the row does not list. Their meaning is clear
            // nevertheless.
            None if matches!(row.operands, Operands::Beside(_) | Operands::OneKey) => TableVerdict::Otherwise,
            None => TableVerdict::Unknown,
        }
    }

    /// Returns the row of the tables of programs that describes the command, and the index of the command's first
    /// option.
    fn row(&self) -> Result<(&'static Row, usize), TableVerdict> {
        let Some(known) = programs::with_subcommands(&self.program) else {
            return tables::of_program(&self.program).map(|row| (row, 0)).ok_or(TableVerdict::No);
        };
        let harmless = known.after_harmless(&self.program, &self.arguments);
        let Some(from) = harmless.or_else(|| self.after_a_folder(known)) else {
            // An option selects another folder or configuration. The meaning of the line is clear, but the command may
            // not be harmless.
            let is_clear = known.after_options(&self.arguments).is_some();
            return Err(if is_clear { TableVerdict::Otherwise } else { TableVerdict::Unknown });
        };
        let (row, words) =
            tables::of_subcommand(&self.program, &self.arguments[from..]).ok_or(TableVerdict::No)?;
        Ok((row, from + words))
    }

    /// Returns the index of git's subcommand after `-C FOLDER` if this folder is the working directory or below it. In
    /// another folder, the configuration of another repository could make git run programs.
    fn after_a_folder(&self, known: &programs::WithSubcommands) -> Option<usize> {
        let mut from = 0;
        while let Some(word) = self.arguments.get(from).filter(|word| word.starts_with('-')) {
            let folder = self.arguments.get(from + 1);
            from += if word == "-C" && self.program == "git" {
                let is_named = folder.is_some_and(|folder| working_directory::is_below(folder));
                (is_named && !self.expands(from + 1)).then_some(2)?
            } else {
                known.harmless_words(&self.program, &self.arguments[from..])?
            };
        }
        (from < self.arguments.len()).then_some(from)
    }

    /// Returns the values of the command's options, including values in the same word as the option. Returns `None` if
    /// the tables of programs do not list an option.
    pub(crate) fn option_values(&self) -> Option<Vec<&str>> {
        let (row, from) = self.row().ok()?;
        let expansions = self.expansions.get(from..).unwrap_or_default();
        let given = options::read(row, self.arguments.get(from..)?, expansions)?;
        Some(given.options.iter().filter_map(|(_, value)| *value).collect())
    }

    /// Returns true if a row of the tables of programs allows the command's operands. Returns `None` if the row does
    /// not list an option of the command.
    fn fits(&self, row: &Row, from: usize) -> Option<bool> {
        let words = &self.arguments[from..];
        let expansions = self.expansions.get(from..).unwrap_or_default();
        if matches!(words, [only] if only == "--help") && row.subcommand.is_empty() {
            return Some(true);
        }
        let given = options::read(row, words, expansions)?;
        let is_git = row.programs.contains(&"git");
        let in_values = given.options.iter().filter_map(|(_, value)| *value);
        if is_git && in_values.into_iter().any(tables::git::checks_signatures) {
            return None;
        }
        let operands: Vec<&str> = given.operands.iter().map(|(_, word)| *word).collect();
        let expands = || expansions.iter().any(|it| *it != Expansion::None);
        let all = |test: &dyn Fn(&str) -> bool| operands.iter().all(|word| test(word));
        Some(match row.operands {
            Operands::Files | Operands::Words => true,
            Operands::None => operands.is_empty(),
            Operands::Names => {
                let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.+:".contains(c);
                all(&|word| word.chars().all(is_name)) && !expands()
            }
            Operands::Most(many) => operands.len() <= many && !expands(),
            Operands::Without(text) => all(&|word| !word.starts_with(text)) && !expands(),
            Operands::Beginning(text) => all(&|word| word.starts_with(text)) && !expands(),
            Operands::Only(these) => all(&|word| these.contains(&word)) && !expands(),
            Operands::Numbers => all(&|word| {
                !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || ".-+smhd".contains(c))
            }),
            Operands::Beside(needed) => {
                let beside = given.options.iter().any(|(name, _)| needed.contains(&name.as_str()));
                operands.is_empty() || (beside && !expands())
            }
            Operands::OneKey => operands.len() <= 1 && all(&|word| word.contains('.')) && !expands(),
        })
    }

    pub(crate) fn tells_version(&self) -> bool {
        let [only] = self.arguments.as_slice() else { return false };
        !self.expands(0)
            && tables::versions::ROWS.iter().any(|(programs, words)| {
                let base = programs::without_version(&self.program);
                (programs.contains(&self.program.as_str()) || programs.contains(&base))
                    && (words.contains(&only.as_str()) || only == "--help")
            })
    }
}
