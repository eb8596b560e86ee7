//! Decides to which commands a rule that allows commands applies. The rule is said to cover these commands.
//!
//! A rule covers a command only if the words match its pattern and all operands and options are harmless. According to
//! the tables, a harmless word contains no code, and does not make the command write a file that the line does not
//! name. Any other word is accepted only if the pattern contains exactly this word. The functions of this module never
//! cause a command to be asked about or forbidden.

use crate::launch::{Launched, launched};
use crate::programs::{self, is_interpreter, is_order, is_shell};
use crate::reads::TableVerdict;
use crate::tables::{self, plain, runs, writes};
use crate::{Expansion, Part};

/// Variables of make that determine which program runs the recipes.
const RECIPE_VARIABLES: [&str; 4] = ["SHELL", ".SHELLFLAGS", "MAKE", "MAKEFLAGS"];

/// Values of a make variable that name neither a program nor a file.
const PLAIN_VALUES: [&str; 12] =
    ["yes", "no", "true", "false", "on", "off", "y", "n", "debug", "release", "Debug", "Release"];

impl Part {
    /// Returns true if a rule that allows commands with `pattern` also allows this command.
    pub fn covered_by(&self, pattern: &str) -> bool {
        let before = programs::with_subcommands(&self.program)
            .is_none_or(|known| known.after_harmless(&self.program, &self.arguments).is_some());
        before
            && self.matches(pattern)
            && (self.stays_within_the_tables(pattern) || self.is_spelled_by(pattern))
            && self.names_all_hosts(pattern)
    }

    fn stays_within_the_tables(&self, pattern: &str) -> bool {
        match self.table_verdict() {
            TableVerdict::Reads => true,
            _ if self.may_hold_code(pattern) => false,
            TableVerdict::No => self.keeps_to_its_row(pattern),
            // These programs are meant to write files.
            _ if plain::RUNS_NOTHING.contains(&self.program.as_str()) => self.keeps_to_its_row(pattern),
            // If the row does not permit an operand, the program writes it as a file: `b` in `uniq a b`.
            TableVerdict::Otherwise if tables::of_program(&self.program).is_some() => false,
            TableVerdict::Otherwise | TableVerdict::Unknown => self.names_all_options(pattern),
        }
    }

    /// Returns true if an operand, an option or a script of this command may contain code that the pattern of the rule
    /// does not contain.
    fn may_hold_code(&self, pattern: &str) -> bool {
        let program = self.program.as_str();
        if runs::TAKES_CODE.contains(&program) {
            return !self.only_edits();
        }
        if is_interpreter(program) {
            return self.holds_a_script(pattern);
        }
        if programs::is_build_tool(program) {
            return !self.orders_are_harmless(pattern);
        }
        // A git alias stands for a command line that is in the configuration.
        let is_alias = || program == "git" && self.may_be_an_alias() && !self.names_its_subcommand(pattern);
        is_alias() || self.evaluates() || self.starts_code(pattern)
    }

    /// Returns true if an interpreter gets code, or a module that neither a table nor the pattern contains.
    fn holds_a_script(&self, pattern: &str) -> bool {
        match self.arguments.as_slice() {
            [flag, module, ..] if flag == "-m" => {
                let run = self.with(module.clone(), 2..self.arguments.len());
                let is_known = run.table_verdict() == TableVerdict::Reads
                    || (run.has_row() && run.stays_within_the_tables(pattern))
                    || programs::with_subcommands(module).is_some();
                !is_known && !pattern.split_whitespace().any(|word| word == module)
            }
            // A pattern such as `python3 -c *` contains the option that is followed by code.
            [option, ..] if option.len() > 1 && option.starts_with('-') => !self.names_all_options(pattern),
            [..] => self.is_inline_code(),
        }
    }

    fn has_row(&self) -> bool {
        plain::find_row(&self.program, &self.arguments).is_some()
            || writes::find_row(&self.program, &self.arguments).is_some()
    }

    /// Returns true if the pattern of the rule or the tables' row of the program contains all options of the command.
    /// Each variable that is set for a build tool must also be harmless or in the pattern.
    fn orders_are_harmless(&self, pattern: &str) -> bool {
        let is_plain = |word: &str| {
            word.split_once('=').is_some_and(|(name, value)| {
                let is_number = value.chars().all(|c| c.is_ascii_digit());
                !name.starts_with('-')
                    && !RECIPE_VARIABLES.contains(&name)
                    && (is_number || PLAIN_VALUES.contains(&value))
            })
        };
        let named = |word: &str| pattern.split_whitespace().any(|it| it == word);
        let orders = || self.arguments.iter().filter(|word| is_order(word));
        let options: Vec<String> = orders().filter(|word| word.starts_with('-')).cloned().collect();
        self.expansion() == Expansion::None
            && orders().all(|word| word.starts_with('-') || is_plain(word) || named(word))
            && (options.iter().all(|word| named(word)) || self.fits_a_row(&self.arguments, &self.expansions))
    }

    /// Returns true if the subcommand runs code that is in the command line, as `deno eval` does.
    fn evaluates(&self) -> bool {
        self.subcommand().is_some_and(|sub| {
            matches!(sub.split(' ').next(), Some("eval" | "repl" | "fsi" | "foreach" | "filter-branch"))
        })
    }

    /// Returns true if the program starts a second program that may run code from the command line, as in `npx sh -c
    /// x`.
    fn starts_code(&self, pattern: &str) -> bool {
        if matches!(launched(self), Launched::No) {
            return false;
        }
        let option =
            |word: &&String| word.starts_with('-') && !matches!(word.as_str(), "--" | "-y" | "--yes");
        let by_option = programs::launches_packages(&self.program)
            && self.arguments.iter().any(|word| option(&word))
            && !self.names_all_options(pattern);
        let mut starts = (0..self.arguments.len()).map(|at| {
            let base = self.arguments[at].rsplit('/').next().unwrap_or_default().to_owned();
            self.with(base, at + 1..self.arguments.len())
        });
        by_option || starts.any(|part| is_shell(&part.program) || part.is_inline_code())
    }

    fn names_its_subcommand(&self, pattern: &str) -> bool {
        let sub = self.subcommand();
        sub.is_some_and(|sub| {
            pattern.split_whitespace().nth(1).is_some_and(|word| sub.split(' ').next() == Some(word))
        })
    }

    /// Returns true if the words of the rule's pattern are exactly the words of the command.
    fn is_spelled_by(&self, pattern: &str) -> bool {
        let spelled = pattern.split_whitespace();
        let words = std::iter::once(self.program.as_str()).chain(self.arguments.iter().map(String::as_str));
        self.expansion() == Expansion::None
            && self.inputs.is_empty()
            && !pattern.contains('*')
            && spelled.eq(words.flat_map(str::split_whitespace))
    }

    fn names_all_options(&self, pattern: &str) -> bool {
        let mut options = self.arguments.iter().filter(|word| word.starts_with('-'));
        self.expansion() == Expansion::None
            && options.all(|option| pattern.split_whitespace().any(|it| it == option))
    }

    /// Returns true if the tables of programs list all options of the command or do not describe the command, or if the
    /// pattern of the rule contains all options.
    fn keeps_to_its_row(&self, pattern: &str) -> bool {
        let words = &self.arguments[self.subcommand_index()..];
        let has_row = plain::find_row(&self.program, words).is_some()
            || writes::find_row(&self.program, words).is_some();
        !has_row || !self.has_unknown_options() || self.names_all_options(pattern)
    }

    /// Returns true if the pattern of the rule contains the host of each archive on another machine. For example, `tar
    /// xf host:file` runs a program that connects to the host.
    fn names_all_hosts(&self, pattern: &str) -> bool {
        let mut hosts = self.arguments.iter().filter(|word| word.contains(':'));
        !plain::TAKES_OLD_BUNDLES.contains(&self.program.as_str())
            || hosts.all(|host| pattern.split_whitespace().any(|word| word == host))
    }
}
