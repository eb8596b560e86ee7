//! Files that a part of a line can read or write (reach), for path rules that ask or forbid. A part reaches the paths
//! that it names, everything below these paths, or any file.
//!
//! In case of doubt, the rule applies. The functions of this module never cause a command to be allowed.

use crate::reads::TableVerdict;
use crate::tables::{self, reach};
use crate::working_directory::join;
use crate::{Command, InnerCommand, Part, find_inner_command, options};

/// Files that a command can read or write in addition to the files that it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reach<'p> {
    /// The command can read or write no other files than those that it names.
    Named,
    /// The command can read or write everything below these paths. The flag of a path is true if the shell expands the
    /// path. The empty path is the working directory of the command.
    Below(Vec<(&'p str, bool)>),
    /// The command can read or write any file, for one of these reasons: the names come from outside the command line,
    /// the program follows symbolic links, or it reads old commits.
    Anywhere,
    /// Unknown files, because no table contains the program or one of its options.
    Unknown,
}

impl Command {
    /// Returns true if it is unknown which files a part of the command line can read or write.
    pub fn reaches_unknown(&self) -> bool {
        self.parts.iter().any(|part| part.reach() == Reach::Unknown)
    }
}

impl Part {
    pub fn reach(&self) -> Reach<'_> {
        let program = self.program.as_str();
        if program == "xargs" {
            return Reach::Anywhere;
        }
        // A jq program can name folders from which it reads modules and data.
        let brings_in = |word: &String| word.contains("import") || word.contains("include");
        if program == "jq" && self.arguments.iter().any(brings_in) {
            return Reach::Anywhere;
        }
        if self.program.is_empty() || self.tells_version() {
            return Reach::Named;
        }
        if program == "git" {
            return self.git_reach();
        }
        if let Some(walks) = reach::WALKS.iter().find(|walks| walks.programs.contains(&program)) {
            return self.walk(walks);
        }
        if matches!(program, "tar" | "bsdtar" | "gtar" | "unzip") {
            return self.archive();
        }
        // The command of the program is checked as a separate part of the line. A person is always asked about code.
        let wraps = matches!(find_inner_command(self), InnerCommand::Words(_) | InnerCommand::Line);
        let stays = reach::STAYS.contains(&program);
        let is_known = self.table_verdict() == TableVerdict::Reads || tables::of_program(program).is_some();
        if wraps || stays || (is_known && self.table_verdict() != TableVerdict::Unknown) {
            Reach::Named
        } else {
            Reach::Unknown
        }
    }

    fn walk(&self, walks: &reach::Walks) -> Reach<'_> {
        if !walks.goes_through(&self.arguments) {
            return if self.table_verdict() == TableVerdict::Unknown { Reach::Unknown } else { Reach::Named };
        }
        if walks.follows(&self.arguments) {
            return Reach::Anywhere;
        }
        let named = match self.program.as_str() {
            "find" => {
                let starts = |word: &str| !word.starts_with(['-', '(', '!', ')', ',']);
                let words = self.words_and_expansions().skip_while(|(word, _)| matches!(*word, "-H" | "-P"));
                words.take_while(|(word, _)| starts(word)).collect()
            }
            program => match tables::of_program(program) {
                Some(row) => self.operands_of(row, walks.texts),
                None => self.words_and_expansions().filter(|(word, _)| !word.starts_with('-')).collect(),
            },
        };
        below(named)
    }

    /// Returns the operands of the command that may be file names, each with a flag that is true if the shell expands
    /// it. Returns none if `row`, which describes the program, does not list an option. `texts` is the number of
    /// leading operands that are not file names.
    fn operands_of(&self, row: &tables::Row, texts: usize) -> Vec<(&str, bool)> {
        let Some(given) = options::read(row, &self.arguments, &self.expansions) else { return Vec::new() };
        // If one of these options contains the text to search for, no operand is this text.
        let by_option =
            |name: &str| matches!(name, "-e" | "-f" | "--regexp" | "--file" | "--files" | "--type-list");
        let texts = if given.options.iter().any(|(name, _)| by_option(name)) { 0 } else { texts };
        given.operands.into_iter().skip(texts).map(|(at, word)| (word, self.expands(at))).collect()
    }

    fn archive(&self) -> Reach<'_> {
        if self.table_verdict() == TableVerdict::Reads {
            return Reach::Named;
        }
        let is_mode = |(at, word): (usize, &String)| {
            let bundle = if at == 0 { Some(word.trim_start_matches('-')) } else { word.strip_prefix('-') };
            bundle.is_some_and(|bundle| !bundle.starts_with('-') && bundle.contains(['x', 'h', 'C']))
                || (word.starts_with("--") && !word.starts_with("--create"))
        };
        // The extracted files may be anywhere below the folder, and `-C` selects another folder.
        if self.program == "unzip" || self.arguments.iter().enumerate().any(is_mode) {
            return Reach::Below(vec![("", false)]);
        }
        below(self.words_and_expansions().skip(1).filter(|(word, _)| !word.starts_with('-')).collect())
    }

    fn git_reach(&self) -> Reach<'_> {
        let Some(sub) = self.subcommand() else { return Reach::Named };
        let first = sub.split(' ').next().unwrap_or_default();
        let is = |name: &str| name == sub || name == first;
        let elsewhere = self.subcommand_index() > 0
            && !self.arguments[..self.subcommand_index()].iter().all(|word| is_quiet(word));
        if elsewhere {
            return Reach::Unknown;
        }
        let words = &self.arguments[self.subcommand_index()..];
        let shown_by = reach::GIT_STAYS_WITHOUT.iter().find(|(name, _)| is(name)).map(|(_, shows)| *shows);
        let shows = |shows: &str| {
            words.iter().filter(|word| word.starts_with('-')).any(|word| {
                let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
                shows.split_whitespace().any(|option| match option.strip_prefix('-') {
                    Some(letter) if letter.len() == 1 => {
                        !word.starts_with("--") && word[1..].starts_with(letter) || is_bundled(word, letter)
                    }
                    Some(_) | None => option == word || option == name || is_short_of(name, option),
                })
            })
        };
        let stays = match shown_by {
            Some(options) => !shows(options),
            None => reach::GIT_STAYS.iter().any(|name| is(name)),
        };
        if stays {
            return if self.table_verdict() == TableVerdict::Unknown { Reach::Unknown } else { Reach::Named };
        }
        let walks = reach::WALKS
            .iter()
            .any(|walks| walks.programs.iter().any(|name| name.strip_prefix("git ") == Some(first)));
        if !walks && !reach::GIT_WALKS.iter().any(|name| is(name)) {
            return Reach::Unknown;
        }
        let behind = words.iter().position(|word| word == "--");
        let from = self.subcommand_index() + behind.map_or(sub.split(' ').count(), |at| at + 1);
        let operands: Vec<_> = self
            .words_and_expansions()
            .skip(from)
            .filter(|(word, _)| behind.is_some() || !word.starts_with('-'))
            .collect();
        // File patterns, and git's pathspec magic: `:!x` is everything except `x`.
        let is_magic = |word: &str| word.starts_with(':') || word.contains(['*', '?', '[', '\\']);
        let is_object = |word: &str| word.contains(':') && !word.starts_with([':', '-']);
        if walks {
            let all = words.iter().any(|word| matches!(word.as_str(), "-A" | "-u" | "--all" | "--update"));
            return if operands.iter().any(|(word, expands)| is_magic(word) && !expands) {
                Reach::Anywhere
            } else if all {
                Reach::Below(vec![("", false)])
            } else {
                below(operands)
            };
        }
        // `git show HEAD:a` shows one file. Without `--`, a word may be a commit, and a commit may contain any file.
        let is_index = |word: &str| {
            word.strip_prefix(':')
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '.'))
        };
        let names_files = matches!(first, "show" | "cat-file")
            && !operands.is_empty()
            && operands.iter().all(|(word, _)| is_object(word) || is_index(word));
        if names_files {
            Reach::Named
        } else if behind.is_none() || operands.is_empty() || operands.iter().any(|(word, _)| is_magic(word)) {
            Reach::Anywhere
        } else {
            below(operands)
        }
    }

    /// Returns the paths in a commit or in the index that a git command may name: `HEAD:a/b`, `:a/b`, `:(top)a`, `:/a`.
    /// Such a path begins at the root of the repository, which may be `cwd` or any folder above it.
    pub fn names_in_commits(&self, cwd: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (word, _) in self.words_and_expansions() {
            for (at, _) in word.match_indices(':').take(MAX_COLONS) {
                let rest = word[at + 1..].trim_start_matches(['/', '!', '^']);
                let rest = if rest.starts_with('(') {
                    rest.split_once(')').map_or("", |(_, path)| path)
                } else {
                    rest
                };
                let mut folder = cwd.trim_matches('/');
                // The path may be relative to the working directory or to any folder above it.
                for _ in 0..MAX_ABOVE {
                    found.push(join(folder, rest));
                    let Some((above, _)) = folder.rsplit_once('/') else { break };
                    folder = above;
                }
                // The root of the repository may be a folder above the workspace.
                let names = rest.match_indices('/').take(MAX_ABOVE);
                found.extend(
                    std::iter::once(rest).chain(names.map(|(at, _)| &rest[at + 1..])).map(str::to_owned),
                );
            }
        }
        found.retain(|path| !path.is_empty());
        found
    }
}

/// Maximum number of colons in a word of a git command after each of which a path in a commit is tried.
const MAX_COLONS: usize = 8;

/// Maximum number of folders above the working directory that are tried as the root of a repository.
const MAX_ABOVE: usize = 16;

fn below(named: Vec<(&str, bool)>) -> Reach<'_> {
    Reach::Below(if named.is_empty() { vec![("", false)] } else { named })
}

/// Returns true for an option before the subcommand that does not affect which files git reads.
fn is_quiet(word: &str) -> bool {
    tables::git::BEFORE.contains(&word)
}

/// Returns true if a word of a command consists of joined option letters, one of which is this letter: `s` in `-sp`.
fn is_bundled(word: &str, letter: &str) -> bool {
    let bundle = word.strip_prefix('-').unwrap_or_default();
    let is_letters = !bundle.is_empty() && bundle.chars().all(|c| c.is_ascii_alphabetic());
    is_letters && bundle.len() <= MAX_BUNDLE && bundle.contains(letter)
}

/// Maximum number of option letters that are joined in one word of a command.
const MAX_BUNDLE: usize = 4;

/// Returns true if `name` abbreviates the long option.
fn is_short_of(name: &str, option: &str) -> bool {
    name.len() > 3 && name.starts_with("--") && option.starts_with(name)
}
