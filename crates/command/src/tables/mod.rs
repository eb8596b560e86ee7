//! Programs that only read, as data: the harmless options of each program, and the kind of its operands.
//!
//! Everything else is not read-only. Examples are a program without a row, an option that a row does not name, an
//! abbreviated option, and an operand of another kind. A row never names an option by which a program writes a file,
//! runs another program, or takes instructions from an unseen file. Programs with their own grammar are in
//! `grammars.rs`. `options.rs` compares a row with a line.

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

/// Program that only reads, or a read-only subcommand.
#[derive(Debug)]
pub struct Row {
    pub programs: &'static [&'static str],
    /// Empty if the row is for the whole program.
    pub subcommand: &'static str,
    /// Options, separated by spaces. `-x` and `--long` take no value. The suffix `:` takes a value, `?` an optional
    /// value in the same word, and `::` two values. `-#` is a number such as `-5`.
    options: &'static str,
    /// Options that the program shares with others.
    shared: &'static [&'static str],
    pub operands: Operands,
    /// True if no option of the program does harm, so that a file pattern may become an option.
    pub takes_any_name: bool,
    pub parser: Parser,
}

/// The program's own way to read options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// Like GNU programs: bundled letters, values behind their letters, options also behind operands.
    Getopt,
    /// Bundled letters, but a value is the next word: `tree -Io x W` ignores `x` and writes `W`.
    ValueApart,
    /// Each option is a word, and all options precede the first operand. `xxd -bc 16 W` ignores the `c`, and
    /// `unzip x -l` unpacks.
    OneByOne,
    /// Each option is a word with one dash or two. Its value is the next word or behind `=`: `go test -run=x -count 1`.
    Names,
}

/// Kind of the operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// Files that are read.
    Files,
    /// Texts that do not name a file.
    Words,
    /// Texts of letters, digits and a few signs. A text with a `/` would be a file.
    Names,
    None,
    /// At most so many operands. The next operand would be a file that is written.
    Most(usize),
    /// No operand begins with this text.
    Without(&'static str),
    /// Each operand begins with this text.
    Beginning(&'static str),
    Numbers,
    /// Each operand is one of these.
    Only(&'static [&'static str]),
    /// Allowed only with one of these options.
    Beside(&'static [&'static str]),
    /// One name that contains a dot.
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

/// Returns a row for use in the code of a grammar.
pub(crate) const fn part_of_a_grammar(programs: &'static [&'static str], options: &'static str) -> Row {
    row(programs, options)
}

/// Returns a row for the code of a grammar, for a program that reads its options one by one.
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

    /// Returns the options of the row, as written in the table.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.options).chain(self.shared.iter().copied()).flat_map(str::split_whitespace)
    }
}

/// Rows by family, as in the documentation.
pub const FAMILIES: [(&str, &[Row]); 7] = [
    ("files and folders", files::ROWS),
    ("text", text::ROWS),
    ("searching", search::ROWS),
    ("archives", archives::ROWS),
    ("binaries", binaries::ROWS),
    ("the machine, the shell", system::ROWS),
    ("git", git::ROWS),
];

/// Returns all rows, family by family.
pub fn all() -> impl Iterator<Item = &'static Row> + Clone {
    FAMILIES.into_iter().flat_map(|(_, rows)| rows)
}

/// Returns the row of a program without subcommands.
pub(crate) fn of_program(program: &str) -> Option<&'static Row> {
    all().find(|row| row.subcommand.is_empty() && row.programs.contains(&program))
}

/// Returns the row of a subcommand, and the number of words that name it: `git stash list` before `git stash`.
pub(crate) fn of_subcommand(program: &str, words: &[String]) -> Option<(&'static Row, usize)> {
    longest(&all(), program, words).filter(|(_, named)| *named > 0)
}

/// Returns the row that names the program with most of its first words, and their number.
fn longest<R>(rows: &R, program: &str, words: &[String]) -> Option<(&'static Row, usize)>
where
    R: Iterator<Item = &'static Row> + Clone,
{
    // A word with a space is not two words: git would look for a program of that name.
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
