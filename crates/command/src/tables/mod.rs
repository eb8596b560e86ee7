//! Table of the programs that only read: for each program, the harmless options and the kind of its operands.
//!
//! A command without a matching row is treated as writing. A row does not match if it does not list an option, if an
//! option is abbreviated, or if an operand is of another kind. A row never lists an option with which a program writes
//! a file, runs another program, or takes instructions from a file. If the options of a program are too complex for a
//! row, `grammars.rs` describes them. `options.rs` compares a line with a row.

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

/// A program or a subcommand that only reads, with its options.
#[derive(Debug)]
pub struct Row {
    pub programs: &'static [&'static str],
    /// Subcommand of the program that this row of the table describes. Empty if the program has no subcommands.
    pub subcommand: &'static str,
    /// Options of the program, separated by spaces. `-x` and `--long` are options without a value. The suffix `:` means
    /// one value, `?` an optional value in the same word, and `::` two values. `-#` is a number such as `-5`.
    options: &'static str,
    /// Lists of options that the program shares with other programs.
    shared: &'static [&'static str],
    pub operands: Operands,
    /// True if all options of the program are harmless. A file pattern is then harmless even if the shell expands it to
    /// an option.
    pub takes_any_name: bool,
    pub parser: Parser,
}

/// Way in which a program of the table parses its options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parser {
    /// The program parses options as GNU programs do: letters can be joined, a value can be in the same word as its
    /// letter, and options can follow operands.
    Getopt,
    /// Option letters of the program can be joined, but the value of a letter is always the next word. For example,
    /// `tree -Io x W` ignores `x` and writes `W`.
    ValueApart,
    /// Each option of the program is a separate word before the first operand. For example, `xxd -bc 16 W` ignores the
    /// `c`, and `unzip x -l` extracts files because `-l` follows an operand.
    OneByOne,
    /// Each option of the program is a separate word that begins with one or two dashes. The value of an option is the
    /// next word or follows a `=`: `go test -run=x -count 1`.
    Names,
}

/// Kind of operands with which a program only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operands {
    /// The operands are files that the program reads.
    Files,
    /// The operands are texts that are not file names.
    Words,
    /// The operands are texts that consist of letters, digits and a few punctuation characters. A text with a `/` is
    /// not allowed, because it names a file.
    Names,
    None,
    /// At most this number of operands is allowed. The program would write to any further operand.
    Most(usize),
    /// The operands must not begin with this text.
    Without(&'static str),
    /// The operands must begin with this text.
    Beginning(&'static str),
    Numbers,
    /// Only the operands in this list are allowed.
    Only(&'static [&'static str]),
    /// The operands are allowed only together with one of these options.
    Beside(&'static [&'static str]),
    /// The only operand is a name with a dot in it, such as the name of a git setting (`user.name`).
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

/// Returns a row of the table of programs that a grammar in `grammars.rs` uses.
pub(crate) const fn part_of_a_grammar(programs: &'static [&'static str], options: &'static str) -> Row {
    row(programs, options)
}

/// Returns a row of the table of programs that a grammar in `grammars.rs` uses, for a program whose options are
/// separate words.
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

    /// Returns the options in this row of the table of programs, as they are written in the table.
    pub fn options(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.options).chain(self.shared.iter().copied()).flat_map(str::split_whitespace)
    }
}

/// Rows of the table of programs that only read, by family. The documentation lists the programs by the same families.
pub const FAMILIES: [(&str, &[Row]); 7] = [
    ("files and folders", files::ROWS),
    ("text", text::ROWS),
    ("searching", search::ROWS),
    ("archives", archives::ROWS),
    ("binaries", binaries::ROWS),
    ("the machine, the shell", system::ROWS),
    ("git", git::ROWS),
];

/// Returns the rows of all families in the table of programs that only read.
pub fn all() -> impl Iterator<Item = &'static Row> + Clone {
    FAMILIES.into_iter().flat_map(|(_, rows)| rows)
}

/// Returns the row of the table of programs for a program that has no subcommands.
pub(crate) fn of_program(program: &str) -> Option<&'static Row> {
    all().find(|row| row.subcommand.is_empty() && row.programs.contains(&program))
}

/// Returns the row of the table of programs for a subcommand, and the number of words in the subcommand's name. The
/// longest matching name wins: `git stash list` before `git stash`.
pub(crate) fn of_subcommand(program: &str, words: &[String]) -> Option<(&'static Row, usize)> {
    longest(&all(), program, words).filter(|(_, named)| *named > 0)
}

/// Returns the table row whose program and subcommand match the most words at the beginning of the command, and the
/// number of these words.
fn longest<R>(rows: &R, program: &str, words: &[String]) -> Option<(&'static Row, usize)>
where
    R: Iterator<Item = &'static Row> + Clone,
{
    // One word with a space is not two words: git would look for a program of that name.
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
