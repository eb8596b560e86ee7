//! One simple command of a line: its arguments, and the comparison with the patterns of rules.

use crate::{Expansion, Part, Pattern, programs, word_matches};

impl Part {
    /// Returns a copy of this command with another program and only a range of its arguments.
    pub(crate) fn with(&self, program: String, range: std::ops::Range<usize>) -> Self {
        let expansions = self.expansions.get(range.clone()).unwrap_or_default().to_vec();
        let folders = self.folders.clone();
        Self { program, arguments: self.arguments[range].to_vec(), expansions, folders, ..Self::default() }
    }

    /// Returns the widest expansion that any argument of the command may have.
    pub(crate) fn expansion(&self) -> Expansion {
        self.expansions.iter().copied().max().unwrap_or_default()
    }

    /// Returns each argument of the command, with a flag that is true if the shell expands the argument.
    pub(crate) fn words_and_expansions(&self) -> impl Iterator<Item = (&str, bool)> {
        self.arguments.iter().enumerate().map(|(at, word)| (word.as_str(), self.expands(at)))
    }

    /// Returns each argument of the command, with its file pattern if the shell expands the argument.
    pub fn arguments_and_patterns(&self) -> impl Iterator<Item = (&str, Option<Pattern>)> {
        self.words_and_expansions().map(|(word, expands)| (word, expands.then(|| Pattern::of_shell(word))))
    }

    /// Returns true if the shell expands none of the command's arguments.
    pub(crate) fn is_plain(&self) -> bool {
        self.expansion() == Expansion::None
    }

    pub(crate) fn expands(&self, argument: usize) -> bool {
        self.expansions.get(argument).is_some_and(|expansion| *expansion != Expansion::None)
    }

    /// Returns the index of the subcommand among the arguments. It is the first word that is compared with the pattern
    /// of a rule.
    pub(crate) fn subcommand_index(&self) -> usize {
        let rest = programs::with_subcommands(&self.program)
            .and_then(|known| known.after_options(&self.arguments))
            .map_or(self.arguments.len(), <[String]>::len);
        self.arguments.len() - rest
    }

    /// Returns true if the pattern of a rule matches the command. Words must be equal. A `*` within a word stands for
    /// any characters. A `*` as the last word stands for any number of words.
    pub fn matches(&self, pattern: &str) -> bool {
        let pattern: Vec<&str> = pattern.split_whitespace().collect();
        let (fixed, open) = fixed(&pattern);
        let arguments = self.arguments[self.subcommand_index()..].iter().map(String::as_str);
        let words: Vec<&str> = std::iter::once(self.program.as_str()).chain(arguments).collect();
        (words.len() == fixed.len() || (open && words.len() > fixed.len()))
            && fixed.iter().zip(&words).all(|(pattern, word)| word_matches(pattern, word))
    }

    /// Returns true if the pattern of a rule possibly matches the command after the shell has expanded file patterns. A
    /// file pattern can become any number of words, so the position of all later words is uncertain.
    pub fn may_match(&self, pattern: &str) -> bool {
        if self.matches(pattern) || self.matches_any_spelling(pattern) || self.may_wrap(pattern) {
            return true;
        }
        let pattern: Vec<&str> = pattern.split_whitespace().collect();
        let (fixed, open) = fixed(&pattern);
        let Some((program, fixed)) = fixed.split_first() else { return false };
        let Some(first) = (0..self.arguments.len()).find(|at| self.expands(*at)) else { return false };
        let words: Vec<_> = self.arguments_and_patterns().collect();
        // Indexes of the words that the next word of the pattern may match. If a file pattern may expand to an option,
        // these may be all words.
        let begins = self.subcommand_index();
        let may_be_an_option = self.expansions.get(first) == Some(&Expansion::Anything)
            && programs::with_subcommands(&self.program).is_some();
        let is_moved = first < begins || (first == begins && may_be_an_option);
        let mut next: Vec<usize> = if is_moved { (first..words.len()).collect() } else { vec![begins] };
        for pattern in fixed {
            let fits = |at: &usize| match words.get(*at) {
                Some((_, Some(becomes))) => becomes.meets(&Pattern::of_word(pattern)),
                Some((word, None)) => word_matches(pattern, word),
                None => false,
            };
            next.retain(fits);
            let again: Vec<usize> = next.iter().copied().filter(|at| self.expands(*at)).collect();
            for at in &mut next {
                *at += 1;
            }
            next.extend(again);
            next.sort_unstable();
            next.dedup();
        }
        word_matches(program, &self.program) && !next.is_empty() && (open || next.contains(&words.len()))
    }
}

/// Returns the words of a rule's pattern without a `*` at the end, and true if there was a `*`.
pub(crate) fn fixed<'a, 'p>(pattern: &'a [&'p str]) -> (&'a [&'p str], bool) {
    match pattern.split_last() {
        Some((&"*", fixed)) => (fixed, true),
        Some(_) | None => (pattern, false),
    }
}
