//! Recognises other spellings of a command that a rule asks about or forbids.
//!
//! The options may be in another order, joined or separate, long or short, or placed between other words. In case of
//! doubt, the rule applies. The functions of this module never cause a command to be allowed.

use crate::part::fixed;
use crate::{Part, limits, normal, word_matches};

/// Pairs of a short and a long option that mean the same in most programs.
const SAME: [(char, &str); 12] = [
    ('f', "--force"),
    ('r', "--recursive"),
    ('R', "--recursive"),
    ('d', "--delete"),
    ('D', "--delete"),
    ('a', "--all"),
    ('i', "--in-place"),
    ('n', "--dry-run"),
    ('o', "--output"),
    ('p', "--parents"),
    ('g', "--global"),
    ('y', "--yes"),
];

/// Pairs of option letters that programs treat as equal.
const ALIKE: [(char, char); 1] = [('r', 'R')];

/// Maximum number of option letters that are joined in one word. A longer word is the name of one option, such as
/// `-delete` or `-jar`.
const MAX_LETTERS: usize = 4;

impl Part {
    /// Returns true if the command contains the program and the options of a pattern, and its operands in the same
    /// order. A pattern without `*` at the end allows no further operands. The word after an option may be the value of
    /// the option or an operand, so both are tried.
    pub(crate) fn matches_any_spelling(&self, pattern: &str) -> bool {
        let pattern: Vec<&str> = pattern.split_whitespace().collect();
        let (fixed, open) = fixed(&pattern);
        let Some((program, fixed)) = fixed.split_first() else { return false };
        let said: Vec<&str> = self.arguments[self.subcommand_index()..].iter().map(String::as_str).collect();
        let options = said.iter().take_while(|word| **word != "--").copied().collect::<Vec<_>>();
        word_matches(program, &self.program)
            && fixed.iter().filter(|word| is_option(word)).all(|option| says(&options, option))
            && names(&said, fixed.iter().filter(|word| !is_option(word)).copied(), open)
    }

    /// Returns true if no table contains the program of the command, and one of its arguments is the program of the
    /// pattern. The unknown program may run this argument and the words after it as a command.
    pub(crate) fn may_wrap(&self, pattern: &str) -> bool {
        if !self.is_in_no_table() {
            return false;
        }
        let program = pattern.split_whitespace().next().unwrap_or_default();
        let mut starts = 0;
        for (at, word) in self.arguments.iter().enumerate() {
            let base = word.rsplit('/').next().unwrap_or(word);
            if base.is_empty() || is_option(word) || !word_matches(program, base) {
                continue;
            }
            starts += 1;
            // The rest of the line is compared for each possible start of a command. If there are too many starts, the
            // rule applies.
            if starts > limits::GUESSED_STARTS {
                return true;
            }
            let part = self.with(base.to_owned(), at + 1..self.arguments.len());
            if part.matches(pattern) || part.matches_any_spelling(pattern) {
                return true;
            }
        }
        false
    }
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with('-')
}

fn says(said: &[&str], option: &str) -> bool {
    // Some programs treat `-auto-approve`, `--auto-approve` and `--auto-approve=true` as the same option.
    let name = |word: &str| word.split('=').next().unwrap_or_default().trim_start_matches('-').to_owned();
    let is_long = !option.contains('=') && name(option).len() > MAX_LETTERS;
    let is_it = |word: &&str| {
        word_matches(option, word) || (is_long && is_option(word) && name(word) == name(option))
    };
    if said.iter().any(is_it) {
        return true;
    }
    if option.starts_with("--") {
        return says_long(said, option)
            || SAME.iter().any(|(letter, long)| *long == option && says_letter(said, *letter));
    }
    let letters = &option[1..];
    letters.len() <= MAX_LETTERS
        && letters.chars().all(|letter| {
            says_letter(said, letter)
                || SAME.iter().any(|(short, long)| *short == letter && says_long(said, long))
        })
}

/// Returns true if the words of a command contain the long option, possibly abbreviated.
fn says_long(said: &[&str], option: &str) -> bool {
    said.iter().any(|word| {
        let name = word.split_once('=').map_or(*word, |(name, _)| name);
        name.len() > 2 && name.starts_with("--") && option.starts_with(name)
    })
}

fn says_letter(said: &[&str], letter: char) -> bool {
    let is_it = |c: char| {
        c == letter || ALIKE.iter().any(|(a, b)| (*a, *b) == (c, letter) || (*b, *a) == (c, letter))
    };
    said.iter()
        .any(|word| word.strip_prefix('-').is_some_and(|rest| !rest.starts_with('-') && rest.contains(is_it)))
}

/// Returns true if the words of a command begin with the words of a rule's pattern. Options may come between, each with
/// or without the next word as its value. If `open` is false, nothing else may follow.
fn names<'a>(said: &[&str], wanted: impl Iterator<Item = &'a str>, open: bool) -> bool {
    let mut at = vec![0];
    for pattern in wanted {
        let is_it = |word: &&str| {
            // `./a/` and `a` are the same path.
            !is_option(word) && (word_matches(pattern, word) || word_matches(&normal(pattern), &normal(word)))
        };
        at = behind_options(said, at);
        at.retain(|here| said.get(*here).is_some_and(is_it));
        for here in &mut at {
            *here += 1;
        }
    }
    if open { !at.is_empty() } else { behind_options(said, at).iter().any(|here| *here >= said.len()) }
}

/// Returns the given indexes of words in a command, and all indexes that are reached from there by skipping options.
fn behind_options(said: &[&str], mut at: Vec<usize>) -> Vec<usize> {
    let mut is_reached = vec![false; said.len() + 3];
    for here in &at {
        is_reached[*here] = true;
    }
    let mut i = 0;
    while let Some(here) = at.get(i).copied() {
        i += 1;
        if said.get(here).is_some_and(|word| is_option(word)) {
            for after in [here + 1, here + 2] {
                if !std::mem::replace(&mut is_reached[after], true) {
                    at.push(after);
                }
            }
        }
    }
    at
}
