//! Recognises lines that only read, among those with loops, conditions, groups, variables or substitutions.
//!
//! The parser is an allow-list: it accepts only grammar that bash and dash understand in the same way, or that dash
//! rejects before it runs any command. Each command of the line is looked up in the tables, including commands in
//! substitutions. A word that the shell computes is treated as the most harmful one that can result. Rules and grants
//! still treat the line as opaque, because its words are unknown. `word_parser.rs` parses words, `values.rs` finds the
//! possible values of variables, and `conditions.rs` parses conditions.

mod commands;
mod conditions;
mod values;
mod word_parser;

use std::cell::Cell;

pub(crate) use self::values::only_shapes_output;
use self::values::{Value, Values};
use crate::limits;

/// Maximum nesting depth of groups and substitutions in a command line.
const MAX_DEPTH: u8 = 12;

/// Maximum number of passes in which the parser reads a command line. The line is parsed again until a pass finds no
/// new value of a variable.
const MAX_PASSES: usize = 8;

/// Keywords of the shell that end a list of commands.
const CLOSERS: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

/// Maximum number of nested command lines (`sh -c …`) that are parsed, in all passes over the outer command line
/// together. Each level of nesting multiplies the number of passes.
const MAX_NESTED: usize = 64;

/// Returns true if the parser accepts the whole command line, and each command in it only reads.
pub(crate) fn reads(line: &str) -> bool {
    reads_within(line, &Cell::new(MAX_NESTED))
}

/// Returns true if the parser accepts a nested command line that only reads. `nested` is the number of further nested
/// lines that may be parsed.
fn reads_within(line: &str, nested: &Cell<usize>) -> bool {
    let Some(left) = nested.get().checked_sub(1) else { return false };
    nested.set(left);
    let mut known = Values::hopeful();
    for _ in 0..MAX_PASSES {
        let mut parser = Parser::new(line, &known, nested, 0);
        let is_read = parser.list(MayBeEmpty::No).is_some() && parser.rest.is_empty();
        if !is_read || !parser.documents.is_empty() {
            return false;
        }
        let assigned = parser.assigned;
        if assigned == known {
            return true;
        }
        known = assigned;
    }
    false
}

/// A here-document that was announced with `<<`. The text of the document begins on the next line.
struct Document {
    end: String,
    is_quoted: bool,
    /// True for a here-document that begins with `<<-`, which drops tabs at the beginning of lines.
    is_indented: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum MayBeEmpty {
    Yes,
    No,
}

struct Parser<'l> {
    rest: &'l str,
    /// Values of shell variables that earlier passes over the command line found.
    known: &'l Values,
    /// Values of shell variables that this pass over the command line found.
    assigned: Values,
    documents: Vec<Document>,
    /// Number of nested command lines that may still be parsed.
    nested: &'l Cell<usize>,
    depth: u8,
    /// Number of commands that may still be parsed, before the parser rejects the command line.
    left: usize,
}

impl<'l> Parser<'l> {
    fn new(text: &'l str, known: &'l Values, nested: &'l Cell<usize>, depth: u8) -> Self {
        Self {
            rest: text,
            known,
            assigned: Values::none(),
            documents: Vec::new(),
            nested,
            depth,
            left: limits::PARTS,
        }
    }

    /// Parses a text inside the command line, such as a here-document, with a separate parser.
    fn within<T>(&mut self, text: &str, read: impl FnOnce(&mut Parser<'_>) -> Option<T>) -> Option<T> {
        let mut inner = Parser::new(text, self.known, self.nested, self.depth + 1);
        inner.left = self.left;
        let found = read(&mut inner).filter(|_| inner.rest.is_empty() && inner.documents.is_empty());
        self.left = inner.left;
        let assigned = inner.assigned;
        self.assigned.join(assigned);
        found
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let found = read(self);
        self.depth -= 1;
        found
    }

    fn eat(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn expect(&mut self, text: &str) -> Option<()> {
        self.eat(text).then_some(())
    }

    /// Skips spaces and comments of the command line, but no line ends.
    fn blanks(&mut self) {
        loop {
            let before = self.rest;
            self.rest = self.rest.trim_start_matches([' ', '\t']);
            self.eat("\\\n");
            if self.rest.starts_with('#') {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.rest = &self.rest[end..];
            }
            if self.rest == before {
                return;
            }
        }
    }

    /// Skips spaces, comments and line ends of the command line.
    fn lines(&mut self) -> Option<()> {
        loop {
            self.blanks();
            if !self.eat("\n") {
                return Some(());
            }
            self.here_documents()?;
        }
    }

    fn here_documents(&mut self) -> Option<()> {
        for document in std::mem::take(&mut self.documents) {
            let mut text = String::new();
            loop {
                let (line, rest) = self.rest.split_once('\n').unwrap_or((self.rest, ""));
                let is_last = rest.is_empty() && !self.rest.ends_with('\n');
                self.rest = rest;
                let shown = if document.is_indented { line.trim_start_matches('\t') } else { line };
                if shown == document.end {
                    break;
                }
                // With a continued line, the end of the document may be on the next line.
                if is_last || (!document.is_quoted && line.ends_with('\\')) {
                    return None;
                }
                text.push_str(shown);
                text.push('\n');
            }
            if !document.is_quoted {
                self.within(&text, |parser| {
                    parser.document()?;
                    Some(())
                })?;
            }
        }
        Some(())
    }

    /// Returns the next word of the command line if it may be a keyword such as `done`, which has no quotes and no
    /// substitutions.
    fn keyword(&self) -> &'l str {
        let is_end = |c: char| c.is_whitespace() || ";&|<>()".contains(c);
        let end = self.rest.find(is_end).unwrap_or(self.rest.len());
        &self.rest[..end]
    }

    fn eat_keyword(&mut self, keyword: &str) -> bool {
        self.keyword() == keyword && self.eat(keyword)
    }

    fn expect_keyword(&mut self, keyword: &str) -> Option<()> {
        self.eat_keyword(keyword).then_some(())
    }

    fn is_at_end_of_list(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with([')', ';']) || CLOSERS.contains(&self.keyword())
    }

    /// Parses a list of shell commands. Returns the kind of value that the commands possibly print.
    fn list(&mut self, may_be_empty: MayBeEmpty) -> Option<Value> {
        let mut printed = None;
        loop {
            self.lines()?;
            if self.is_at_end_of_list() {
                break;
            }
            let value = self.and_or()?;
            printed = Some(if printed.is_none() { value } else { Value::Unknown });
            self.blanks();
            let goes_on = self.rest.starts_with('\n')
                || (!self.rest.starts_with(";;") && (self.eat(";") || self.eat("&")));
            if !goes_on {
                break;
            }
        }
        printed.or((may_be_empty == MayBeEmpty::Yes).then_some(Value::Unknown))
    }

    fn and_or(&mut self) -> Option<Value> {
        let mut printed = self.pipeline()?;
        loop {
            self.blanks();
            if !self.eat("&&") && !self.eat("||") {
                return Some(printed);
            }
            self.lines()?;
            self.pipeline()?;
            printed = Value::Unknown;
        }
    }

    fn pipeline(&mut self) -> Option<Value> {
        if self.eat_keyword("!") {
            self.blanks();
        }
        let mut printed = self.command()?;
        loop {
            self.blanks();
            if self.rest.starts_with("||") || !self.eat("|") {
                return Some(printed);
            }
            if self.rest.starts_with('&') {
                return None;
            }
            self.lines()?;
            printed = self.command()?;
        }
    }

    fn command(&mut self) -> Option<Value> {
        if self.rest.starts_with("((") {
            return None;
        }
        if self.rest.starts_with('(') {
            return self.deeper(|parser| {
                parser.expect("(")?;
                let printed = parser.list(MayBeEmpty::No)?;
                parser.expect(")")?;
                let before = parser.rest;
                parser.redirects()?;
                Some(if parser.rest.trim_start() == before.trim_start() { printed } else { Value::Unknown })
            });
        }
        let compound: fn(&mut Self) -> Option<()> = match self.keyword() {
            "{" => Self::group,
            "if" => Self::condition,
            "while" | "until" => Self::repetition,
            "for" => Self::for_each,
            "case" => Self::case,
            "[[" => Self::double_brackets,
            "function" | "select" | "coproc" | "!" | "in" => return None,
            keyword if CLOSERS.contains(&keyword) => return None,
            _ => return self.simple(),
        };
        self.deeper(|parser| {
            compound(parser)?;
            parser.redirects()?;
            Some(Value::Unknown)
        })
    }

    fn group(&mut self) -> Option<()> {
        self.expect_keyword("{")?;
        self.list(MayBeEmpty::No)?;
        self.expect_keyword("}")
    }

    fn condition(&mut self) -> Option<()> {
        self.expect_keyword("if")?;
        self.list(MayBeEmpty::No)?;
        self.expect_keyword("then")?;
        self.list(MayBeEmpty::No)?;
        while self.eat_keyword("elif") {
            self.list(MayBeEmpty::No)?;
            self.expect_keyword("then")?;
            self.list(MayBeEmpty::No)?;
        }
        if self.eat_keyword("else") {
            self.list(MayBeEmpty::No)?;
        }
        self.expect_keyword("fi")
    }

    fn repetition(&mut self) -> Option<()> {
        let keyword = self.keyword();
        self.expect(keyword)?;
        self.list(MayBeEmpty::No)?;
        self.body()
    }

    fn body(&mut self) -> Option<()> {
        self.expect_keyword("do")?;
        self.list(MayBeEmpty::No)?;
        self.expect_keyword("done")
    }

    /// Parses the shell loop `for NAME in WORDS; do LIST; done`.
    fn for_each(&mut self) -> Option<()> {
        self.expect_keyword("for")?;
        self.blanks();
        let name = self.keyword();
        self.expect(name)?;
        self.lines()?;
        self.expect_keyword("in")?;
        let mut value = None;
        loop {
            self.blanks();
            if self.eat(";") || self.rest.starts_with('\n') {
                break;
            }
            let word = self.parse_word()?;
            value = Some(word.each().join(value.unwrap_or(word.each())));
        }
        self.assign(name, value.unwrap_or(Value::Number))?;
        self.lines()?;
        self.body()
    }

    /// Parses `case WORD in PATTERN) LIST;; esac`.
    fn case(&mut self) -> Option<()> {
        self.expect_keyword("case")?;
        self.blanks();
        self.parse_word()?;
        self.lines()?;
        self.expect_keyword("in")?;
        loop {
            self.lines()?;
            if self.eat_keyword("esac") {
                return Some(());
            }
            self.eat("(");
            loop {
                self.blanks();
                self.parse_word()?;
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            self.list(MayBeEmpty::Yes)?;
            self.lines()?;
            if !self.eat(";;") {
                self.lines()?;
                return self.expect_keyword("esac");
            }
        }
    }

    /// Parses the redirections that follow a group or a loop of the shell.
    fn redirects(&mut self) -> Option<()> {
        loop {
            self.blanks();
            if !self.redirect()? {
                return Some(());
            }
        }
    }
}
