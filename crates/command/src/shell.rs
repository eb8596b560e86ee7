//! The shell's grammar, as far as it says where a word, a command or a redirection ends.
//!
//! `/bin/sh` is dash on one machine and bash on the next: where the two read a line differently, and
//! wherever the shell would compute something, the line is opaque. Splitting goes on all the same, so that
//! rules that hold back still see what can be seen.

use std::iter::Peekable;
use std::str::Chars;

/// A word without its quotes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) expansion: Expansion,
    pub(crate) quoted: bool,
    /// Unquoted `{` not closed yet: with a comma or `..` in them, bash makes several words of one.
    braces: u32,
}

impl Word {
    pub(crate) fn plain(text: &str) -> Self {
        Self { text: text.to_owned(), ..Self::default() }
    }
}

/// Placeholder in a word for a text that the shell computes.
pub(crate) const COMPUTED: char = '\u{fffc}';

/// What the shell's file patterns may make of a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expansion {
    /// It stays as it is.
    #[default]
    None,
    /// Several words, none of which is an option: they begin with a letter of the pattern's own.
    Operands,
    /// Anything that a file may be called, options included.
    Anything,
}

/// What stands between two commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// `&&`: what follows runs only where the command before it did well.
    And,
    /// `|`: both run at once, each in a shell of its own.
    Pipe,
    Other,
}

/// What a redirection does with its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Redirect {
    Reads,
    Writes,
    Appends,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(Word),
    /// One command ends here.
    Separator(Separator),
    /// The next word is a file.
    Redirect(Redirect),
}

#[derive(Debug, Default)]
pub(crate) struct Tokens {
    pub(crate) list: Vec<Token>,
    pub(crate) opaque: Option<&'static str>,
    /// Commands within double quotes: `"$(…)"`.
    pub(crate) hidden: Vec<String>,
    /// Whether a word begins in a home folder: `~`, `~name`, and behind `=` and `:`.
    pub(crate) home: bool,
}

/// How many commands within double quotes are looked at.
const MAX_HIDDEN: usize = 2;

const EXPANDS: &str = "it expands variables or commands";
const GRAMMAR: &str = "it uses the shell's own grammar";
const UNCLOSED: &str = "a quote is not closed";
const AMBIGUOUS: &str = "shells differ in how they read it";

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
    word: Option<Word>,
    found: Tokens,
    /// After `cmd &>file`: bash goes on with the same command, dash has begun another one.
    split_by_some: bool,
    /// The character taken before this one; a space in place of a line that goes on.
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
                // `$'x'` and `$"x"` are quoted words to some shells.
                if !matches!(self.chars.peek(), Some('(' | '\'' | '"')) {
                    self.word().text.push('$');
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
                let word = self.word();
                let literal = !matches!(word.text.chars().next(), None | Some('-'));
                let expansion = if literal { Expansion::Operands } else { Expansion::Anything };
                word.expansion = word.expansion.max(expansion);
                word.text.push(c);
            }
            c => {
                if c.is_control() {
                    self.opaque("it holds a control character");
                }
                if c == '~' {
                    // Behind `=` and `:` some shells do, and some do not.
                    let begins = |word: &Word| word.text.is_empty() || word.text.ends_with(['=', ':']);
                    self.found.home |= self.word.as_ref().is_none_or(begins);
                }
                let in_braces = self.word.as_ref().is_some_and(|word| word.braces > 0);
                let range = c == '.' && self.last == '.';
                if in_braces && (c == ',' || range) {
                    self.opaque("it expands braces");
                }
                let word = self.word();
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

    fn word(&mut self) -> &mut Word {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        let is_file = matches!(self.found.list.last(), Some(Token::Redirect(_)));
        if self.split_by_some && !is_file {
            self.opaque(AMBIGUOUS);
        }
        if word.text.contains('\0') {
            self.opaque("it holds a control character");
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
        self.word().quoted = true;
        loop {
            match self.chars.next() {
                Some('\'') => return,
                Some(c) => self.word().text.push(c),
                None => return self.opaque(UNCLOSED),
            }
        }
    }

    fn double_quotes(&mut self) {
        self.word().quoted = true;
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
                    self.word().text.push(c);
                }
                Some('\\') => match self.chars.next() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => self.word().text.push(c),
                    Some(c) => self.word().text.extend(['\\', c]),
                    None => return self.opaque(UNCLOSED),
                },
                Some(c) => self.word().text.push(c),
                None => return self.opaque(UNCLOSED),
            }
        }
    }

    fn backslash(&mut self) {
        match self.chars.next() {
            // The line goes on, even in the middle of an operator.
            Some('\n') => {
                let operator = |c: char| matches!(c, '&' | '|' | '<' | '>' | ';' | '(' | ')');
                if operator(self.last) && self.chars.peek().is_some_and(|c| operator(*c)) {
                    self.opaque(AMBIGUOUS);
                }
            }
            Some(c) => {
                let word = self.word();
                word.quoted = true;
                word.text.push(c);
            }
            None => self.opaque("it ends in a backslash"),
        }
    }

    /// `2>`: the digit is a descriptor, not a word. Of more digits, dash makes a word and bash none.
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
                // A here-document is text, not commands; but what it is fed to may well run it.
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

    /// `2>&1` joins two streams and writes nothing by itself; `>&file` and `>&2file` are files.
    fn duplicate(&mut self, redirect: Redirect) {
        let mut target = String::new();
        while let Some(c) = self.chars.next_if(char::is_ascii_digit) {
            target.push(c);
        }
        target.extend(self.chars.next_if_eq(&'-'));
        let ends = matches!(self.chars.peek(), None | Some(' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>'));
        // `>& -cat`: bash closes the stream and runs `cat`, where a word seems to begin.
        let next = self.chars.clone().find(|c| !matches!(c, ' ' | '\t'));
        if target.is_empty() && matches!(next, Some('-' | '\\')) {
            self.opaque(AMBIGUOUS);
        }
        if target.is_empty() || !ends {
            self.found.list.push(Token::Redirect(redirect));
        }
        if !target.is_empty() && !ends {
            self.opaque(AMBIGUOUS);
            self.word().text = target;
        }
    }
}

fn is_digit(text: &str) -> bool {
    matches!(text.as_bytes(), [digit] if digit.is_ascii_digit())
}
