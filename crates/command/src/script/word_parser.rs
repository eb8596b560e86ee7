//! Words of a line: quotes, file patterns, variables, substitutions and arithmetic.

use super::values::Value;
use super::{MayBeEmpty, Parser};
use crate::shell::{COMPUTED, Expansion, ShellWord};

/// A word of a command line as the shell would understand it.
pub(super) struct ScriptWord {
    pub(super) word: ShellWord,
    /// True if the shell turns this word into exactly one word, whatever it computes.
    pub(super) is_one: bool,
    /// True if the shell computes nothing in this word of the command line.
    pub(super) is_literal: bool,
    /// Kind of the value that a shell variable gets if this word is assigned to it.
    pub(super) value: Value,
}

impl ScriptWord {
    /// Returns an empty word of a shell script, such as the value in `x=`.
    pub(super) fn empty() -> Self {
        Self { word: ShellWord::default(), is_one: true, is_literal: true, value: Value::Path }
    }

    /// Returns the kind of the words into which the shell splits this word of the command line.
    pub(super) fn each(&self) -> Value {
        match (self.value, self.is_one) {
            (Value::Path, false) if !self.is_literal => Value::Unknown,
            (value, _) => value,
        }
    }
}

/// Quotes around a value that the shell computes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quotes {
    Around,
    Without,
}

struct Building {
    word: ShellWord,
    is_one: bool,
    is_literal: bool,
    /// Kind of the value that the shell computes, if the word consists of a single one.
    only: Option<Value>,
    pieces: usize,
    braces: u32,
}

impl Building {
    fn new() -> Self {
        Self { word: ShellWord::default(), is_one: true, is_literal: true, only: None, pieces: 0, braces: 0 }
    }

    fn push(&mut self, c: char) {
        self.word.text.push(c);
        self.pieces += 1;
    }

    fn expand(&mut self, expansion: Expansion) {
        self.word.expansion = self.word.expansion.max(expansion);
    }

    fn begins_as_operand(&self) -> bool {
        self.word.text.starts_with(|c: char| !matches!(c, '-' | '+' | '@' | '{' | COMPUTED))
    }

    fn computed(&mut self, value: Value, quotes: Quotes) {
        self.only = (self.pieces == 0).then_some(value);
        self.pieces += 1;
        self.is_literal = false;
        if value == Value::Number {
            self.word.text.push('1');
            return;
        }
        let is_operand =
            if self.word.text.is_empty() { value != Value::Unknown } else { self.begins_as_operand() };
        let is_one = quotes == Quotes::Around || value <= Value::Word;
        self.is_one &= is_one;
        self.expand(if is_operand && is_one { Expansion::Operands } else { Expansion::Anything });
        self.word.text.push(COMPUTED);
    }

    fn finish(self) -> ScriptWord {
        let value = match self.only.filter(|_| self.pieces == 1) {
            Some(value) => value,
            None if self.is_literal && self.word.expansion == Expansion::None => {
                Value::of_text(&self.word.text)
            }
            None if self.word.expansion == Expansion::Anything => Value::Unknown,
            None if self.word.text.starts_with("/dev/") => Value::Unknown,
            // Braces may expand to `/dev/tcp`.
            None if self.word.text.starts_with('/') && self.word.text.contains('{') => Value::Unknown,
            None if !self.is_literal && self.word.text.starts_with('/') => Value::Unknown,
            None if self.begins_as_operand() && (self.is_one || self.is_literal) => Value::Path,
            None => Value::Unknown,
        };
        // An empty word is not an option.
        let value = if self.word.text.is_empty() { Value::Path } else { value };
        ScriptWord { word: self.word, is_one: self.is_one, is_literal: self.is_literal, value }
    }
}

impl Parser<'_> {
    fn next_char(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    pub(super) fn parse_word(&mut self) -> Option<ScriptWord> {
        let mut found = Building::new();
        let before = self.rest;
        if self.eat("<(") {
            self.substitution()?;
            "substituted".chars().for_each(|c| found.push(c));
            found.expand(Expansion::Operands);
        }
        while let Some(c) = self.rest.chars().next() {
            if c.is_whitespace() || ";&|<>()".contains(c) {
                break;
            }
            self.next_char();
            match c {
                '\'' => {
                    let (text, rest) = self.rest.split_once('\'')?;
                    self.rest = rest;
                    found.word.quoted = true;
                    text.chars().for_each(|c| found.push(c));
                }
                '"' => {
                    found.word.quoted = true;
                    self.quoted(Some('"'), &mut found)?;
                }
                '\\' => match self.next_char()? {
                    '\n' => {}
                    c => {
                        found.word.quoted = true;
                        found.push(c);
                    }
                },
                '$' if self.rest.starts_with(['\'', '"']) => return None,
                '$' => self.dollar(Quotes::Without, &mut found)?,
                '`' => {
                    let value = self.backquotes()?;
                    found.computed(value, Quotes::Without);
                }
                '*' | '?' | '[' => {
                    let is_operand = found.begins_as_operand();
                    found.is_one = false;
                    found.expand(if is_operand { Expansion::Operands } else { Expansion::Anything });
                    found.push(c);
                }
                COMPUTED => return None,
                c if c.is_control() => return None,
                c => {
                    let range = c == '.' && found.word.text.ends_with('.');
                    if found.braces > 0 && (c == ',' || range) {
                        let is_operand = found.begins_as_operand();
                        found.is_one = false;
                        found.expand(if is_operand { Expansion::Operands } else { Expansion::Anything });
                    }
                    match c {
                        '{' => found.braces += 1,
                        '}' => found.braces = found.braces.saturating_sub(1),
                        _ => {}
                    }
                    found.push(c);
                }
            }
        }
        (self.rest.len() < before.len()).then(|| found.finish())
    }

    /// Parses text of a command line that is in double quotes or in a here-document.
    fn quoted(&mut self, end: Option<char>, found: &mut Building) -> Option<()> {
        loop {
            match self.next_char() {
                None if end.is_none() => return Some(()),
                None => return None,
                c if c == end => return Some(()),
                Some('\\') => match self.next_char() {
                    Some('\n') => {}
                    Some(c @ ('"' | '\\' | '$' | '`')) => found.push(c),
                    Some(c) => {
                        found.push('\\');
                        found.push(c);
                    }
                    None => return None,
                },
                Some('$') => self.dollar(Quotes::Around, found)?,
                Some('`') => {
                    let value = self.backquotes()?;
                    found.computed(value, Quotes::Around);
                }
                Some(COMPUTED) => return None,
                Some(c) if c.is_control() && !matches!(c, '\n' | '\t') => return None,
                Some(c) => found.push(c),
            }
        }
    }

    pub(super) fn document(&mut self) -> Option<()> {
        let mut found = Building::new();
        self.quoted(None, &mut found)
    }

    /// Parses the commands in a shell substitution `$(…)`. Rejects a here-document that is still open at the end,
    /// because shells disagree about where its text begins.
    fn substitution(&mut self) -> Option<Value> {
        let value = self.deeper(|parser| parser.list(MayBeEmpty::No))?;
        self.expect(")")?;
        self.documents.is_empty().then_some(value)
    }

    fn backquotes(&mut self) -> Option<Value> {
        let (text, rest) = self.rest.split_once('`')?;
        if text.contains('\\') {
            return None;
        }
        self.rest = rest;
        let text = text.to_owned();
        if self.depth >= super::MAX_DEPTH {
            return None;
        }
        self.within(&text, |parser| parser.list(MayBeEmpty::No))
    }

    /// Parses the text after a `$` in a command line.
    fn dollar(&mut self, quotes: Quotes, found: &mut Building) -> Option<()> {
        match self.computed() {
            Some(Computed::Value(value)) => found.computed(value, quotes),
            Some(Computed::Dollar) => found.push('$'),
            None => return None,
        }
        Some(())
    }

    fn computed(&mut self) -> Option<Computed> {
        if self.eat("((") {
            self.arithmetic()?;
            return Some(Computed::Value(Value::Number));
        }
        if self.eat("(") {
            let value = self.substitution()?;
            return Some(Computed::Value(value));
        }
        if self.eat("{") {
            return self.braces().map(Computed::Value);
        }
        let value = match self.rest.chars().next() {
            Some('?' | '#' | '$') => {
                self.next_char();
                Value::Number
            }
            Some('!') => {
                self.next_char();
                Value::Count
            }
            Some(c) if c.is_ascii_alphabetic() || c == '_' => {
                let name = self.name();
                // zsh evaluates an index in brackets behind the name.
                if self.rest.starts_with('[') {
                    return None;
                }
                self.known.lookup(&name)
            }
            // `$1` and `$@` are arguments of a script, and a line has none. `$[…]` is arithmetic, as `$((…))` is.
            Some(c) if c.is_ascii_digit() || matches!(c, '@' | '*' | '-' | '[') => return None,
            Some(_) | None => return Some(Computed::Dollar),
        };
        Some(Computed::Value(value))
    }

    fn name(&mut self) -> String {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        name.to_owned()
    }

    /// Parses the rest of `${NAME}`. Accepts only the forms that set no variable and run no code.
    fn braces(&mut self) -> Option<Value> {
        let (inner, rest) = self.rest.split_once('}')?;
        let inner = inner.to_owned();
        self.rest = rest;
        if let Some(name) = inner.strip_prefix('#').filter(|name| !name.is_empty()) {
            return is_name(name).then_some(Value::Number);
        }
        let end = inner.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(inner.len());
        let (name, operation) = inner.split_at(end);
        if !is_name(name) || operation.contains(['$', '`', '\\', '\'', '"', '{', '\n', COMPUTED]) {
            return None;
        }
        let value = self.known.lookup(name);
        Some(match operation.chars().next() {
            None => value,
            // A removed suffix may leave an empty text.
            Some('%') => value.join(Value::Count),
            Some('#' | '/' | '^' | ',' | '+' | '?') => Value::Unknown,
            Some('-') => value.join(Value::of_text(&operation[1..])),
            Some(':') => match operation.chars().nth(1)? {
                '-' => value.join(Value::of_text(&operation[2..])),
                '+' | '?' => Value::Unknown,
                // A part of the value, given by position and length.
                _ if operation.chars().all(|c| c.is_ascii_digit() || c == ':') => Value::Unknown,
                _ => return None,
            },
            Some(_) => return None,
        })
    }

    /// Parses `$((…))`, which may contain only numbers and variables with numbers. For a variable with another value,
    /// some shells run code in the value.
    fn arithmetic(&mut self) -> Option<()> {
        let mut open = 0_u32;
        loop {
            match self.rest.chars().next()? {
                ')' if open == 0 => return self.expect("))"),
                ')' => {
                    open -= 1;
                    self.next_char();
                }
                '(' => {
                    open += 1;
                    self.next_char();
                }
                '$' => {
                    self.next_char();
                    match self.deeper(Parser::computed)? {
                        Computed::Value(Value::Number | Value::Count) => {}
                        Computed::Value(_) | Computed::Dollar => return None,
                    }
                }
                c if c.is_ascii_alphabetic() || c == '_' => {
                    let name = self.name();
                    if self.known.lookup(&name) > Value::Count {
                        return None;
                    }
                }
                '=' => {
                    self.expect("==")?;
                }
                '<' | '>' | '!' => {
                    self.next_char();
                    self.eat("=");
                }
                c if c.is_ascii_digit() || " \t+-*/%&|^~?:,".contains(c) => {
                    self.next_char();
                    // An operator with `=`, such as `+=`, sets a variable.
                    if !c.is_ascii_digit() && self.rest.starts_with('=') && !self.rest.starts_with("==") {
                        return None;
                    }
                }
                _ => return None,
            }
        }
    }
}

enum Computed {
    Value(Value),
    /// The `$` in a command line has no special meaning.
    Dollar,
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
