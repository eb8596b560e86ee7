//! The class of a command: the gravest of what its parts do, from reading to installing software. Which programs do what
//! is in `tables/classes.rs`.

use std::collections::BTreeSet;

use crate::programs::{is_interpreter, with_subcommands};
use crate::reads::Known;
use crate::tables::classes::{OPTIONS, ROWS, Row};
use crate::{Command, Part, same};

/// The gravest thing that a command is known to do, from the least to the most grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It changes nothing.
    Reads,
    /// It runs a program that is none of the others.
    Runs,
    /// It runs code: an interpreter, a file named by its path, or what nobody can tell.
    RunsCode,
    /// It reaches out over the network.
    ReachesOut,
    /// It installs software.
    Installs,
}

impl Command {
    /// The gravest among its parts; an opaque command may do anything, and counts as code.
    pub fn class(&self) -> Class {
        match self.opaque {
            Some(_) if self.computes_and_reads => Class::Reads,
            Some(_) => Class::RunsCode,
            None => self.parts.iter().map(Part::class).max().unwrap_or(Class::RunsCode),
        }
    }

    /// All that it does, and may do: for rules that hold back. Reading is told where it does nothing else.
    pub fn classes(&self) -> BTreeSet<Class> {
        if self.computes_and_reads {
            return BTreeSet::from([Class::Reads]);
        }
        let parts = self.parts.iter().chain(&self.guesses).map(Part::class);
        let connects = (self.opaque == Some(crate::CONNECTS)).then_some(Class::ReachesOut);
        let mut classes: BTreeSet<Class> =
            parts.filter(|class| *class != Class::Reads).chain(connects).collect();
        classes.insert(self.class());
        classes
    }
}

impl Part {
    fn class(&self) -> Class {
        if self.is_read_only() {
            return Class::Reads;
        }
        // `pip3` is pip, and so is `python3 -m pip`; `git-push` is git.
        let mut class = self.class_by_name();
        for words in same::as_well(self) {
            if let Some((program, arguments)) = words.split_first() {
                let same =
                    Self { program: program.clone(), arguments: arguments.to_vec(), ..Self::default() };
                class = class.max(same.class_by_name());
            }
        }
        if let Some(sub) = self.base().strip_prefix("git-") {
            let arguments = std::iter::once(sub.to_owned()).chain(self.arguments.iter().cloned()).collect();
            class =
                class.max(Self { program: "git".to_owned(), arguments, ..Self::default() }.class_by_name());
        }
        class
    }

    fn class_by_name(&self) -> Class {
        let program = self.program.as_str();
        let runs_code = is_interpreter(program) || program.contains('/') || self.gives_code();
        let least = if runs_code { Class::RunsCode } else { Class::Runs };
        let by_words = ROWS.iter().filter(|row| self.is_of(row)).map(|row| row.class);
        let has = |option: &&str| {
            let is_it = |word: &String| {
                word == option || word.strip_prefix(*option).is_some_and(|rest| rest.starts_with('='))
            };
            self.arguments.iter().any(is_it)
        };
        let by_options = OPTIONS
            .iter()
            .filter(|(row, options)| self.is_of(row) && options.iter().any(has))
            .map(|(row, _)| row.class);
        let by_address = self.names_an_address().then_some(Class::ReachesOut);
        by_words.chain(by_options).chain(by_address).max().unwrap_or(least).max(least)
    }

    /// A script on the line that does more than print and edit, wherever its output goes.
    fn gives_code(&self) -> bool {
        self.is_inline_code() && self.known() != Known::Reads && !self.only_edits()
    }

    fn is_of(&self, row: &Row) -> bool {
        let program = self.program.as_str();
        if !row.programs.split(' ').any(|name| name == program) {
            return false;
        }
        let words = self.words_that_name();
        row.words.split(' ').any(|wanted| match (wanted, wanted.split_once(':')) {
            ("*", _) => true,
            ("-", _) => self.arguments.is_empty(),
            (_, Some((first, "*"))) => words.first() == Some(&first) && words.len() > 1,
            (_, Some((first, second))) => words.windows(2).any(|pair| pair == [first, second]),
            // Behind an option that nobody knows, any word may be the subcommand.
            (wanted, None) => {
                words.first() == Some(&wanted) || (wanted == "install" && words.contains(&"install"))
            }
        }) || (self.hides_its_subcommand() && row.words.split(' ').any(|wanted| words.contains(&wanted)))
    }

    /// The words that are no options, from the subcommand on.
    fn words_that_name(&self) -> Vec<&str> {
        let known = with_subcommands(&self.program).and_then(|known| known.after_options(&self.arguments));
        let words = known.unwrap_or(&self.arguments).iter().map(String::as_str);
        words.filter(|word| !word.starts_with('-')).collect()
    }

    /// Whether an option before the subcommand may take the next word.
    fn hides_its_subcommand(&self) -> bool {
        self.arguments.first().is_some_and(|word| word.starts_with('-'))
            && with_subcommands(&self.program)
                .is_none_or(|known| known.after_options(&self.arguments).is_none())
    }

    /// Whether a program that is given an address will go there. Those with subcommands have rows.
    fn names_an_address(&self) -> bool {
        const SCHEMES: [&str; 5] = ["http://", "https://", "ftp://", "ssh://", "ws://"];
        let goes = with_subcommands(&self.program).is_none() || self.program == "deno";
        let is_address = |word: &String| SCHEMES.iter().any(|scheme| word.starts_with(scheme));
        // `go run example.com/tool@latest`
        let is_package = |word: &String| self.program == "go" && !word.starts_with('-') && word.contains('@');
        self.arguments.iter().any(|word| (goes && is_address(word)) || is_package(word))
    }
}
