//! Programs that read, as data: for each the options that are known to be harmless, and what its operands are.
//!
//! What is not here is not reading: a program without a row, an option that a row does not name, one that is
//! abbreviated, an operand of another kind. A row never names an option by which a program writes a file, runs
//! another one, or takes orders from a file that nobody sees. Programs with a grammar of their own are in
//! `grammars.rs`; how a row is compared with a line is in `options.rs`.

mod archives;
mod binaries;
pub(crate) mod classes;
mod files;
pub(crate) mod first_words;
pub(crate) mod git;
pub(crate) mod plain;
pub(crate) mod reach;
pub(crate) mod runs;
mod search;
pub(crate) mod subcommands;
mod system;
mod text;
pub(crate) mod versions;
pub(crate) mod writes;

/// A program that reads, or a subcommand of one.
#[derive(Debug)]
pub struct Row {
    pub programs: &'static [&'static str],
    /// Empty: the program has none.
    pub subcommand: &'static str,
    /// Options, divided by spaces. `-x` and `--long` stand alone; a `:` behind them takes a value, a `?` perhaps one
    /// in the same word, a `::` two; `-#` is a number such as `-5`.
    options: &'static str,
    /// Further ones, which it has in common with others.
    shared: &'static [&'static str],
    pub operands: Operands,
    /// Whether no option of the program does harm at all, so that a file pattern may become one.
    pub takes_any_name: bool,
    pub parser: Parser,
}

/// How the program itself reads its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// As GNU programs do: letters in one word, a value behind its letter, options behind operands.
    Getopt,
    /// Letters in one word, but a value is the next word: `tree -Io x W` ignores `x` and writes `W`.
    ValueApart,
    /// Each option is a word, and all stand before the first operand: of `xxd -bc 16 W` the `c` is passed over, and
    /// `unzip x -l` unpacks.
    OneByOne,
    /// Each option is a word with one dash or two, its value the next word or behind `=`: `go test -run=x -count 1`.
    Names,
}

/// What the words may be that are no options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// Files that are read.
    Files,
    /// Texts that no file is named by.
    Words,
    /// The same, of letters, digits and few signs: with a `/` in it, it would be a file.
    Names,
    None,
    /// So many at most: the next one is a file that is written.
    Most(usize),
    /// None that begins with this text.
    Without(&'static str),
    /// Each begins with this text.
    Beginning(&'static str),
    Numbers,
    /// Each is one of these.
    Only(&'static [&'static str]),
    /// Only where one of these options is on the line.
    Beside(&'static [&'static str]),
    /// One name with a dot in it.
    OneKey,
}

const fn row(programs: &'static [&'static str], options: &'static str) -> Row {
    Row {
        programs,
        subcommand: "",
        options,
        shared: &[],
        operands: Operands::Files,
        takes_any_name: false,
        parser: Parser::Getopt,
    }
}

/// A row that stands where the grammar that needs it is.
pub(crate) const fn part_of_a_grammar(programs: &'static [&'static str], options: &'static str) -> Row {
    row(programs, options)
}

/// The same for a program that reads its options one by one.
pub(crate) const fn one_by_one(programs: &'static [&'static str], options: &'static str) -> Row {
    row(programs, options).parsed(Parser::OneByOne)
}

const fn git(subcommand: &'static str, shared: &'static [&'static str]) -> Row {
    Row { programs: &["git"], subcommand, shared, ..row(&[], "") }
}

impl Row {
    const fn with(self, operands: Operands) -> Self {
        Self { operands, ..self }
    }

    const fn takes_any_name(self) -> Self {
        Self { takes_any_name: true, ..self }
    }

    const fn parsed(self, parser: Parser) -> Self {
        Self { parser, ..self }
    }

    /// The options of the row, each as the table writes it.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.options).chain(self.shared.iter().copied()).flat_map(str::split_whitespace)
    }
}

/// The rows by family, as the documentation shows them.
pub const FAMILIES: [(&str, &[Row]); 7] = [
    ("files and folders", files::ROWS),
    ("text", text::ROWS),
    ("searching", search::ROWS),
    ("archives", archives::ROWS),
    ("binaries", binaries::ROWS),
    ("the machine, the shell", system::ROWS),
    ("git", git::ROWS),
];

/// All rows, family by family.
pub fn all() -> impl Iterator<Item = &'static Row> + Clone {
    FAMILIES.into_iter().flat_map(|(_, rows)| rows)
}

/// The row of a program without subcommands.
pub(crate) fn of_program(program: &str) -> Option<&'static Row> {
    all().find(|row| row.subcommand.is_empty() && row.programs.contains(&program))
}

/// The row of a subcommand, and how many words name it: `git stash list` before `git stash`.
pub(crate) fn of_subcommand(program: &str, words: &[String]) -> Option<(&'static Row, usize)> {
    longest(&all(), program, words).filter(|(_, named)| *named > 0)
}

/// Of some rows the one that names the program with most of its first words, and how many those are.
fn longest<R>(rows: &R, program: &str, words: &[String]) -> Option<(&'static Row, usize)>
where
    R: Iterator<Item = &'static Row> + Clone,
{
    // A space within a word is no end of it: git would look for a program of that name.
    let named = |many: usize| {
        let words = words.get(..many)?;
        words.iter().all(|word| !word.contains(' ')).then(|| words.join(" "))
    };
    [2, 1, 0].into_iter().find_map(|many| {
        let name = named(many)?;
        let row = rows.clone().find(|row| row.programs.contains(&program) && row.subcommand == name)?;
        Some((row, many))
    })
}
