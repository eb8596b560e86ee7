//! The class of a command: the most severe effect that one of its parts has. Reading is the least severe effect, and
//! installing software the most severe. The table `tables/classes.rs` contains the effects of programs.

use std::collections::BTreeSet;

use crate::programs::{is_interpreter, with_subcommands};
use crate::reads::TableVerdict;
use crate::tables::classes::{OPTIONS, ROWS, Row};
use crate::{Command, Part, aliases};

/// Most severe effect that a command is known to have. The variants are sorted from the least to the most severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The command changes nothing.
    Reads,
    /// The command runs a program that belongs to no other class, for example one that the tables do not contain.
    Runs,
    /// The command runs code: an interpreter, a file that is called by its path, or a program to which the table gives
    /// this class.
    RunsCode,
    /// The command connects to the network.
    ReachesOut,
    /// The command installs software.
    Installs,
}

impl Command {
    /// Returns the most severe class of all parts of the command line. The class is [`Class::Reads`] if the line
    /// certainly only reads, and [`Class::RunsCode`] if the meaning of the line is uncertain, because it may do
    /// anything.
    pub fn class(&self) -> Class {
        match self.opaque {
            Some(_) if self.computes_and_reads => Class::Reads,
            Some(_) => Class::RunsCode,
            None => self.parts.iter().map(Part::class).max().unwrap_or(Class::RunsCode),
        }
    }

    /// Returns all classes that the command line certainly or possibly has, for rules that ask about or forbid
    /// commands. The result contains [`Class::Reads`] only if it contains no other class.
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
        // `pip3` and `python3 -m pip` have the class of `pip`. `git-push` has the class of `git push`.
        let mut class = self.class_by_name();
        for words in aliases::find_aliases(self) {
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
        let by_words = ROWS.iter().filter(|row| self.matches_row(row)).map(|row| row.class);
        let has = |option: &&str| {
            let is_it = |word: &String| {
                word == option || word.strip_prefix(*option).is_some_and(|rest| rest.starts_with('='))
            };
            self.arguments.iter().any(is_it)
        };
        let by_options = OPTIONS
            .iter()
            .filter(|(row, options)| self.matches_row(row) && options.iter().any(has))
            .map(|(row, _)| row.class);
        let by_address = self.names_an_address().then_some(Class::ReachesOut);
        by_words.chain(by_options).chain(by_address).max().unwrap_or(least).max(least)
    }

    /// Returns true if a script in the command line, such as a sed script, does anything other than print or edit text.
    /// Redirections are ignored.
    fn gives_code(&self) -> bool {
        self.is_inline_code() && self.table_verdict() != TableVerdict::Reads && !self.only_edits()
    }

    fn matches_row(&self, row: &Row) -> bool {
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
            // Behind an unknown option, any word may be the subcommand.
            (wanted, None) => {
                words.first() == Some(&wanted) || (wanted == "install" && words.contains(&"install"))
            }
        }) || (self.hides_its_subcommand() && row.words.split(' ').any(|wanted| words.contains(&wanted)))
    }

    /// Returns the subcommand of the program and the words after the subcommand, without options.
    fn words_that_name(&self) -> Vec<&str> {
        let known = with_subcommands(&self.program).and_then(|known| known.after_options(&self.arguments));
        let words = known.unwrap_or(&self.arguments).iter().map(String::as_str);
        words.filter(|word| !word.starts_with('-')).collect()
    }

    /// Returns true if the first argument of the program is an option whose value may be the next word. It is then
    /// uncertain which word is the subcommand.
    fn hides_its_subcommand(&self) -> bool {
        self.arguments.first().is_some_and(|word| word.starts_with('-'))
            && with_subcommands(&self.program)
                .is_none_or(|known| known.after_options(&self.arguments).is_none())
    }

    /// Returns true if an argument is an address to which the program may connect. Among the programs with subcommands,
    /// only deno and the packages of go are checked, because the table of classes contains the others.
    fn names_an_address(&self) -> bool {
        const SCHEMES: [&str; 5] = ["http://", "https://", "ftp://", "ssh://", "ws://"];
        let goes = with_subcommands(&self.program).is_none() || self.program == "deno";
        let is_address = |word: &String| SCHEMES.iter().any(|scheme| word.starts_with(scheme));
        // `go run example.com/tool@latest`
        let is_package = |word: &String| self.program == "go" && !word.starts_with('-') && word.contains('@');
        self.arguments.iter().any(|word| (goes && is_address(word)) || is_package(word))
    }
}
