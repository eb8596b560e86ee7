//! Grammar of the shell, as far as it is needed to find the ends of words, commands and redirections.
//!
//! `/bin/sh` is dash on some machines and bash on others. A line is opaque if dash and bash understand it differently,
//! or if the shell would compute a part of it. An opaque line is still split into words. Rules with the action ask or
//! forbid are compared with these words.

use std::iter::Peekable;
use std::str::Chars;

/// Word of a command line, after quotes were removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShellWord {
    pub(crate) text: String,
    pub(crate) expansion: Expansion,
    pub(crate) quoted: bool,
    /// Number of unquoted `{` in the word that are not closed yet. With a comma or `..` between the braces, bash turns
    /// the word into several words.
    braces: u32,
}

impl ShellWord {
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// Character that replaces text of a command line that the shell computes.
pub(crate) const COMPUTED: char = '\u{fffc}';

/// Possible results when the shell expands the file patterns in a word of a command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expansion {
    /// The shell does not change the word.
    #[default]
    None,
    /// The shell may replace the word by several words, none of which can be an option, because the pattern begins with
    /// an ordinary character.
    Operands,
    /// The shell may replace the word by any file name, even one that looks like an option.
    Anything,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// The commands are separated by `&&`: the second runs only if the first succeeds.
    And,
    /// The commands are separated by `|`: both run at the same time, each in a shell of its own.
    Pipe,
    Other,
}

/// Purpose for which a command uses the file of a redirection: to read, to write or to append.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    Reads,
    Writes,
    Appends,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(ShellWord),
    Separator(Separator),
    /// Redirection of a command. The next word is the file of the redirection.
    Redirect(Redirect),
}

#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) list: Vec<Token>,
    pub(crate) opaque: Option<&'static str>,
    /// Commands in substitutions inside double quotes: `"$(…)"`.
    pub(crate) hidden: Vec<String>,
    /// True if a home folder (`~`, `~name`) begins a word of the command line, or follows a `=` or `:`.
    pub(crate) home: bool,
}

/// Maximum number of commands in double quotes (`"$(…)"`) of one command line that are parsed.
const MAX_HIDDEN: usize = 2;

const EXPANDS: &str = "it expands variables or commands";
const GRAMMAR: &str = "it uses shell syntax that is not analyzed";
const UNCLOSED: &str = "a quote is not closed";
const AMBIGUOUS: &str = "shells interpret it differently";

pub(crate) fn tokenise(line: &str) -> Tokens {
    let mut lexer = Lexer {
        chars: line.chars().peekable(),
        word: None,
        found: Tokens::default(),
        split_by_some: false,
        last: ' ',
    };
    while let Some(c) = lexer.chars.next() {
        lexer.take(c);
        lexer.last = c;
    }
    lexer.end_word();
    lexer.found
}

struct Lexer<'l> {
    chars: Peekable<Chars<'l>>,
    word: Option<ShellWord>,
    found: Tokens,
    /// True after `cmd &>file`: bash continues the same command, but dash begins a new one.
    split_by_some: bool,
    /// Previous character of the command line, or a space at the beginning of a continued line.
    last: char,
}

impl Lexer<'_> {
    fn take(&mut self, c: char) {
        match c {
            '\'' => self.single_quotes(),
            '"' => self.double_quotes(),
            '\\' => self.backslash(),
            '$' => {
                self.opaque(EXPANDS);
                // `$'x'` and `$"x"` are quoted words in some shells.
                if !matches!(self.chars.peek(), Some('(' | '\'' | '"')) {
                    self.current_word().text.push('$');
                }
            }
            '`' => {
                self.opaque(EXPANDS);
                self.separate();
            }
            '(' | ')' => {
                self.opaque(GRAMMAR);
                self.separate();
            }
            '#' if self.word.is_none() => while self.chars.next_if(|c| *c != '\n').is_some() {},
            ' ' | '\t' => self.end_word(),
            '\n' | ';' => self.separate(),
            '|' => {
                let or = self.chars.next_if_eq(&'|').is_some();
                self.chars.next_if(|c| *c == '&' && !or);
                self.separate_by(if or { Separator::Other } else { Separator::Pipe });
            }
            '&' => {
                let and = self.chars.next_if_eq(&'&').is_some();
                let both_streams = !and && self.chars.peek() == Some(&'>');
                self.separate_by(if and { Separator::And } else { Separator::Other });
                self.split_by_some = both_streams;
            }
            '<' => self.reads(),
            '>' => self.writes(),
            '*' | '?' | '[' => {
                let word = self.current_word();
                let literal = !matches!(word.text.chars().next(), None | Some('-'));
                let expansion = if literal { Expansion::Operands } else { Expansion::Anything };
                word.expansion = word.expansion.max(expansion);
                word.text.push(c);
            }
            c => {
                if c.is_control() {
                    self.opaque("it contains a control character");
                }
                if c == '~' {
                    // Some shells also expand `~` after `=` and `:`.
                    let begins = |word: &ShellWord| word.text.is_empty() || word.text.ends_with(['=', ':']);
                    self.found.home |= self.word.as_ref().is_none_or(begins);
                }
                let in_braces = self.word.as_ref().is_some_and(|word| word.braces > 0);
                let range = c == '.' && self.last == '.';
                if in_braces && (c == ',' || range) {
                    self.opaque("it expands braces");
                }
                let word = self.current_word();
                match c {
                    '{' => word.braces += 1,
                    '}' => word.braces = word.braces.saturating_sub(1),
                    _ => {}
                }
                word.text.push(c);
            }
        }
    }

    fn opaque(&mut self, why: &'static str) {
        self.found.opaque.get_or_insert(why);
    }

    fn current_word(&mut self) -> &mut ShellWord {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let is_file = matches!(self.found.list.last(), Some(Token::Redirect(_)));
        if self.split_by_some && !is_file {
            self.opaque(AMBIGUOUS);
        }
        if word.text.contains('\0') {
            self.opaque("it contains a control character");
        }
        self.found.list.push(Token::Word(word));
    }

    fn separate(&mut self) {
        self.separate_by(Separator::Other);
    }

    fn separate_by(&mut self, separator: Separator) {
        self.end_word();
        self.split_by_some = false;
        self.found.list.push(Token::Separator(separator));
    }

    fn single_quotes(&mut self) {
        self.current_word().quoted = true;
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(c) => self.current_word().text.push(c),
                None => return self.opaque(UNCLOSED),
            }
        }
    }

    fn double_quotes(&mut self) {
        self.current_word().quoted = true;
        loop {
            match self.chars.next() {
                Some('"') => return,
                Some(c @ ('$' | '`')) => {
                    self.opaque(EXPANDS);
                    let starts = c == '`' || self.chars.peek() == Some(&'(');
                    if starts && self.found.hidden.len() < MAX_HIDDEN {
                        let rest = self.chars.clone().collect();
                        self.found.hidden.push(rest);
                    }
                    self.current_word().text.push(c);
                }
                Some('\\') => match self.chars.next() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.current_word().text.push(c),
                    Some(c) => self.current_word().text.extend(['\\', c]),
                    None => return self.opaque(UNCLOSED),
                },
                Some(c) => self.current_word().text.push(c),
                None => return self.opaque(UNCLOSED),
            }
        }
    }

    fn backslash(&mut self) {
        match self.chars.next() {
            // A backslash at the end of a line continues the line. The line break may even be within an operator.
            Some('\n') => {
                let operator = |c: char| matches!(c, '&' | '|' | '<' | '>' | ';' | '(' | ')');
                if operator(self.last) && self.chars.peek().is_some_and(|c| operator(*c)) {
                    self.opaque(AMBIGUOUS);
                }
            }
            Some(c) => {
                let word = self.current_word();
                word.quoted = true;
                word.text.push(c);
            }
            None => self.opaque("it ends in a backslash"),
        }
    }

    /// Recognises file descriptors in a command line: in `2>`, the digit is not a word. dash treats several digits as a
    /// word, and bash as a file descriptor.
    fn descriptor(&mut self) {
        match self.word.take() {
            Some(word) if !word.quoted && is_digit(&word.text) => {}
            Some(word) => {
                let digits = !word.quoted && word.text.chars().all(|c| c.is_ascii_digit());
                if digits || word.text.starts_with('{') {
                    self.opaque(AMBIGUOUS);
                }
                self.word = Some(word);
                self.end_word();
            }
            None => {}
        }
    }

    fn reads(&mut self) {
        self.descriptor();
        let redirect = match self.chars.peek() {
            Some('<') => {
                // A here-document is text, but the program that reads it may execute the text.
                self.opaque(GRAMMAR);
                while self.chars.next_if(|c| matches!(c, '<' | '-')).is_some() {}
                Redirect::Reads
            }
            Some('>') => {
                self.chars.next();
                Redirect::Writes
            }
            Some('&') => {
                self.chars.next();
                return self.duplicate(Redirect::Reads);
            }
            Some(_) | None => Redirect::Reads,
        };
        self.found.list.push(Token::Redirect(redirect));
    }

    fn writes(&mut self) {
        self.descriptor();
        let redirect = match self.chars.next_if(|c| matches!(c, '>' | '|')) {
            Some('>') => Redirect::Appends,
            Some(_) | None => Redirect::Writes,
        };
        if self.chars.next_if_eq(&'&').is_some() {
            return self.duplicate(redirect);
        }
        self.found.list.push(Token::Redirect(redirect));
    }

    /// Reads the word after `>&` in a command line. `2>&1` joins two streams and writes no file. In `>&file` and
    /// `>&2file`, the word is a file name.
    fn duplicate(&mut self, redirect: Redirect) {
        let mut target = String::new();
        while let Some(c) = self.chars.next_if(char::is_ascii_digit) {
            target.push(c);
        }
        target.extend(self.chars.next_if_eq(&'-'));
        let ends = matches!(self.chars.peek(), None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>'));
        // In `>& -cat`, bash closes the stream and runs `cat`. The text `-cat` only looks like a file.
        let next = self.chars.clone().find(|c| !matches!(c, ' ' | '\t'));
        if target.is_empty() && matches!(next, Some('-' | '\\')) {
            self.opaque(AMBIGUOUS);
        }
        if target.is_empty() || !ends {
            self.found.list.push(Token::Redirect(redirect));
        }
        if !target.is_empty() && !ends {
            self.opaque(AMBIGUOUS);
            self.current_word().text = target;
        }
    }
}

fn is_digit(text: &str) -> bool {
    matches!(text.as_bytes(), [digit] if digit.is_ascii_digit())
}
