//! Finds lines that may run another command than the words suggest.
//!
//! A line is unclear if it contains code, if its first word may be an alias, or if one of its options is in no table.
//! An unclear line may run a command that a rule forbids. The functions of this module never cause a command to be
//! allowed. `tables/subcommands.rs` and `tables/plain.rs` list the known programs.

use crate::launch::{Launched, launched};
use crate::programs::{self, is_order, with_subcommands};
use crate::reads::TableVerdict;
use crate::tables::{self, Parser, classes, plain, subcommands, writes};
use crate::{Expansion, InnerCommand, Part, SYSTEM_FOLDERS, find_inner_command, is_assignment, options};

impl Part {
    /// Returns the reason why it is unclear which command this part of the line runs. The gates ask a person about such
    /// a line if a rule forbids commands or paths, and if a checkpoint asks before deployments.
    pub(crate) fn unclear(&self) -> Option<&'static str> {
        let program = self.program.as_str();
        let holds_a_line = || self.arguments.iter().any(|word| word.contains(' '));
        if self.is_inline_code() && !self.only_edits() {
            Some("it contains code, or reads code from standard input")
        } else if !matches!(launched(self), Launched::No) && holds_a_line() {
            Some("one of its arguments may be a command line")
        } else if self.may_be_an_alias() {
            Some("its subcommand may be an alias or a program with that name")
        } else if programs::is_build_tool(program) && self.arguments.iter().any(|word| is_order(word)) {
            Some("an option or a variable changes the build")
        } else if self.copies_a_program() {
            Some("it gives a system program another name")
        } else if self.table_verdict() == TableVerdict::Unknown && !plain::RUNS_NOTHING.contains(&program) {
            Some("an option is not known to be harmless")
        } else {
            None
        }
    }

    /// Returns true if the program is known, but no table contains its subcommand. Such a subcommand may be an alias, a
    /// program on `PATH`, a script or code.
    pub(crate) fn may_be_an_alias(&self) -> bool {
        let sub = self.subcommand();
        let name = sub.as_deref().and_then(|sub| sub.split(' ').next()).unwrap_or_default();
        let known = with_subcommands(&self.program).and_then(|_| subcommands::for_program(&self.program));
        known.is_some_and(|known| !name.is_empty() && !known.contains(name))
    }

    fn copies_a_program(&self) -> bool {
        matches!(self.program.as_str(), "cp" | "ln" | "mv" | "install" | "dd")
            && self.arguments.iter().any(|word| {
                let word = word.split_once('=').map_or(word.as_str(), |(_, value)| value);
                SYSTEM_FOLDERS
                    .iter()
                    .any(|folder| word.strip_prefix(folder).is_some_and(|at| at.starts_with('/')))
            })
    }

    /// Returns true if the tables do not list one of the options. The value of such an option may be a program to run.
    /// Returns false for programs that are harmless with every option, and for programs whose options are checked
    /// elsewhere, such as make.
    pub(crate) fn has_unknown_options(&self) -> bool {
        let program = self.program.as_str();
        if self.table_verdict() == TableVerdict::Reads
            || plain::RUNS_NOTHING.contains(&program)
            || programs::is_build_tool(program)
            // The command that the program runs is checked as a separate part of the line.
            || matches!(find_inner_command(self), InnerCommand::Words(_) | InnerCommand::Line)
            || matches!(launched(self), Launched::At(_))
            || self.only_edits()
        {
            return false;
        }
        if programs::is_interpreter(program) {
            return match self.arguments.as_slice() {
                // In `-m MODULE ARGS` and in `SCRIPT ARGS`, the words after the module or the script are its arguments.
                [flag, module, ..] if flag == "-m" => {
                    self.with(module.clone(), 2..self.arguments.len()).has_unknown_options()
                }
                [script, ..] => script.starts_with('-'),
                [] => false,
            };
        }
        let from = self.subcommand_index();
        let (words, expansions) = (&self.arguments[from..], self.expansions.get(from..).unwrap_or_default());
        let name = [program, words.first().map_or("", String::as_str)].join(" ");
        if plain::RUNS_NOTHING.contains(&name.as_str()) {
            return false;
        }
        let may_be_an_option = |(at, word): (usize, &String)| {
            (word.len() > 1 && word.starts_with(['-', '+', '@']))
                || is_assignment(word)
                || expansions.get(at) == Some(&Expansion::Anything)
        };
        words.iter().enumerate().any(may_be_an_option) && !self.fits_a_row(words, expansions)
    }

    /// Returns true if no table contains the program, and the line does not call it by its path.
    pub(crate) fn is_in_no_table(&self) -> bool {
        let program = self.program.as_str();
        let has_class =
            || classes::ROWS.iter().any(|row| row.programs.split_whitespace().any(|name| name == program));
        let is_special = programs::is_build_tool(program)
            || programs::is_interpreter(program)
            || programs::is_shell(program)
            || with_subcommands(program).is_some()
            || plain::RUNS_NOTHING.contains(&program);
        !program.is_empty()
            && !program.contains('/')
            && !is_special
            && self.table_verdict() == TableVerdict::No
            && plain::find_row(program, &self.arguments).is_none()
            && writes::find_row(program, &self.arguments).is_none()
            && !has_class()
    }

    pub(crate) fn fits_a_row(&self, words: &[String], expansions: &[Expansion]) -> bool {
        let mut words = words.to_vec();
        if plain::TAKES_OLD_BUNDLES.contains(&self.program.as_str())
            && let Some(first) = words.first_mut().filter(|first| !first.starts_with('-'))
        {
            *first = format!("-{first}");
        }
        let rows = [plain::find_row(&self.program, &words), writes::find_row(&self.program, &words)];
        // `yarn install` may also run a script named `install`. The row for `yarn install` applies to this script too.
        let script = words.split_first().filter(|(first, _)| *first == "run").map(|(_, rest)| rest);
        let as_script = script.and_then(|rest| plain::find_row(&self.program, rest));
        let rows = rows.into_iter().chain([as_script.map(|(row, named)| (row, named + 1))]);
        let reading = tables::of_subcommand(&self.program, &words);
        rows.flatten().chain(reading).any(|(row, named)| {
            let expansions = expansions.get(named..).unwrap_or_default();
            options::read(row, &words[named..], expansions).is_some_and(|given| {
                // `gcc @file` reads further options from the file.
                let is_list =
                    |(_, word): &(usize, &str)| row.parser == Parser::Names && word.starts_with('@');
                // `tar -f host:file` runs a program to connect to the host.
                let reaches_out = |value: &str| self.program == "tar" && value.contains(':');
                let mut values = given.options.iter().filter_map(|(_, value)| *value);
                !given.operands.iter().any(is_list) && !values.any(reaches_out)
            })
        })
    }
}
