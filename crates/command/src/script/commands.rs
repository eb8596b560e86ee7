//! Simple commands in a script: their variables, words, redirections, and what kind of value they may print.

use super::values::{Value, is_free, only_shapes_output};
use super::word_parser::{ScriptWord, is_name};
use super::{Document, Parser, conditions};
use crate::shell::{COMPUTED, Expansion, ShellWord};

const NOWHERE: &str = "/dev/null";

impl Parser<'_> {
    /// Sets a variable of the shell script. Returns `None` if a variable with this name has a special meaning.
    pub(super) fn assign(&mut self, name: &str, value: Value) -> Option<()> {
        is_free(name).then(|| self.assigned.set(name, value))
    }

    /// Parses `NAME=`, the beginning of an assignment in a shell script. Returns `None` if there is no assignment.
    fn assigned_name(&mut self) -> Option<String> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        let rest = rest.strip_prefix('=').filter(|_| is_name(name))?;
        self.rest = rest;
        Some(name.to_owned())
    }

    fn assigned_value(&mut self) -> Option<ScriptWord> {
        let is_end = |c: char| c.is_whitespace() || ";&|)".contains(c);
        if self.rest.is_empty() || self.rest.starts_with(is_end) {
            Some(ScriptWord::empty())
        } else {
            self.parse_word()
        }
    }

    pub(super) fn simple(&mut self) -> Option<Value> {
        self.left = self.left.checked_sub(1)?;
        let mut set = Vec::new();
        let mut words: Vec<ScriptWord> = Vec::new();
        let mut has_redirects = false;
        let mut joins = false;
        loop {
            self.blanks();
            let before = self.rest;
            if self.redirect()? {
                has_redirects = true;
                joins |= before[..before.len() - self.rest.len()].contains(">&");
                continue;
            }
            if words.is_empty()
                && let Some(name) = self.assigned_name()
            {
                set.push((name, self.assigned_value()?));
                continue;
            }
            if self.rest.is_empty() || self.rest.starts_with(['\n', ';', '&', '|', '(', ')']) {
                break;
            }
            words.push(self.parse_word()?);
        }
        let Some((program, arguments)) = words.split_first() else {
            if set.is_empty() && !has_redirects {
                return None;
            }
            for (name, value) in set {
                self.assign(&name, value.value)?;
            }
            return Some(Value::Unknown);
        };
        let is_plain = program.word.expansion == Expansion::None || program.word.text == "[";
        if !program.is_literal || !is_plain {
            return None;
        }
        let name = program.word.text.as_str();
        let is_harmless = |(variable, value): &(String, ScriptWord)| {
            (variable == "IFS" && name == "read")
                || (value.is_literal && only_shapes_output(variable, &value.word.text))
        };
        if !set.iter().all(is_harmless) {
            return None;
        }
        let runs = match name {
            "read" => return self.read(arguments),
            "break" | "continue" | "wait" => arguments.iter().all(|word| word.value == Value::Number),
            "cd" => arguments.len() == 1 && changes_folder(&arguments[0]),
            "test" | "[" if !arguments.iter().all(|word| word.is_literal) => {
                conditions::tests(name, arguments)
            }
            "sh" | "bash" | "dash" if is_line(arguments) => {
                super::reads_within(&arguments[1].word.text, self.nested)
            }
            _ => {
                let all: Vec<ShellWord> = words.iter().map(|word| word.word.clone()).collect();
                crate::reads_alone(all)
            }
        };
        // Error messages may contain any text. `wc -l < f` prints no file name.
        let is_known = !has_redirects || (name == "wc" && !joins);
        runs.then(|| if is_known { printed(name, arguments) } else { Value::Unknown })
    }

    /// Parses `read -r NAME`, which sets a variable to a line of input.
    fn read(&mut self, arguments: &[ScriptWord]) -> Option<Value> {
        let mut words = arguments.iter().peekable();
        while let Some(option) = words.next_if(|word| word.word.text.starts_with('-')) {
            match option.word.text.as_str() {
                "-r" if option.is_literal => {}
                "-d" if option.is_literal => {
                    words.next().filter(|word| word.is_literal)?;
                }
                _ => return None,
            }
        }
        for word in words {
            if !word.is_literal || word.word.expansion != Expansion::None {
                return None;
            }
            self.assign(&word.word.text.clone(), Value::Unknown)?;
        }
        Some(Value::Unknown)
    }

    /// Parses one redirection of a command in a script. Returns false if there is none, and `None` if it is rejected.
    pub(super) fn redirect(&mut self) -> Option<bool> {
        let digit = self.rest.strip_prefix(|c: char| c.is_ascii_digit());
        let behind = digit.filter(|rest| rest.starts_with(['<', '>'])).unwrap_or(self.rest);
        if behind.starts_with("<(") {
            return (behind.len() == self.rest.len()).then_some(false);
        }
        if self.rest.starts_with("&>") {
            self.rest = self.rest[2..].strip_prefix('>').unwrap_or(&self.rest[2..]);
            self.nowhere()?;
            self.blanks();
            let ends = self.rest.is_empty() || self.rest.starts_with(['\n', ';', '&', '|', ')']);
            return ends.then_some(true);
        }
        if !behind.starts_with(['<', '>']) {
            return Some(false);
        }
        self.rest = behind;
        if self.eat("<<<") {
            self.blanks();
            self.parse_word()?;
        } else if self.eat("<<") {
            let is_indented = self.eat("-");
            self.blanks();
            let end =
                self.parse_word().filter(|word| word.is_literal && word.word.expansion == Expansion::None)?;
            let is_quoted = end.word.quoted;
            self.documents.push(Document { end: end.word.text, is_quoted, is_indented });
        } else if self.eat("<&") || self.eat(">&") {
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let ends = &self.rest[end..];
            if end > 1 || (end == 0 && !ends.starts_with('-')) {
                return None;
            }
            self.rest = if end == 0 { &ends[1..] } else { ends };
            let is_end = |c: char| c.is_whitespace() || ";&|<>)".contains(c);
            if !self.rest.is_empty() && !self.rest.starts_with(is_end) {
                return None;
            }
        } else if self.eat("<>") {
            return None;
        } else if self.eat("<") {
            self.blanks();
            let word = self.parse_word()?;
            let text = word.word.text.as_str();
            let connects = text.starts_with("/dev/tcp") || text.starts_with("/dev/udp");
            let is_joined = text.strip_prefix(COMPUTED).is_some_and(|rest| !rest.is_empty());
            if connects
                || is_joined
                || word.word.expansion == Expansion::Anything
                || word.value == Value::Unknown
            {
                return None;
            }
        } else {
            self.expect(">")?;
            if !self.eat(">") {
                self.eat("|");
            }
            self.nowhere()?;
        }
        Some(true)
    }

    fn nowhere(&mut self) -> Option<()> {
        self.blanks();
        let word = self.parse_word()?;
        (word.is_literal && word.word.expansion == Expansion::None && word.word.text == NOWHERE).then_some(())
    }
}

/// Returns true if `cd` with this word stays harmless: the word names a folder, or is a variable in quotes whose value
/// is not an option.
fn changes_folder(word: &ScriptWord) -> bool {
    let text = word.word.text.as_str();
    !text.is_empty()
        && word.is_one
        // Without a word, `cd` changes to the home folder.
        && (word.is_literal || word.word.quoted)
        && word.word.expansion != Expansion::Anything
        && !text.starts_with(['-', '~'])
}

fn is_line(arguments: &[ScriptWord]) -> bool {
    matches!(arguments, [option, line] if option.is_literal && option.word.text == "-c" && line.is_literal)
}

/// Returns the kind of value that a command in a script may print.
fn printed(program: &str, arguments: &[ScriptWord]) -> Value {
    let is_literal = arguments.iter().all(|word| word.is_literal && word.word.expansion == Expansion::None);
    let words: Vec<&str> = arguments.iter().map(|word| word.word.text.as_str()).collect();
    match (program, words.as_slice()) {
        ("pwd", []) | ("git", ["rev-parse", "--show-toplevel"]) => Value::Path,
        ("wc", ["-l" | "-c" | "-w" | "-m"]) | ("nproc", []) | ("date", ["+%s" | "+%Y"]) => Value::Count,
        ("grep" | "egrep", ["-c", rest @ ..]) if is_literal && rest.len() <= 2 => {
            if rest.iter().any(|word| word.starts_with('-')) { Value::Unknown } else { Value::Count }
        }
        ("seq", _) if arguments.iter().all(|word| word.value <= Value::Count) => Value::Count,
        ("git", ["rev-list", "--count", ..]) if is_literal => Value::Count,
        ("git", ["rev-parse" | "merge-base" | "rev-list", rest @ ..]) if is_literal => {
            const KNOWN: [&str; 6] = ["--verify", "--short", "--abbrev-ref", "-q", "--all", "--fork-point"];
            // If git does not know a word, it prints the word unchanged.
            let is_name = |word: &str| Value::of_text(word) <= Value::Word && !word.starts_with('/');
            let is_plain = |word: &&str| match word.strip_prefix('-') {
                Some(option) => KNOWN.contains(word) || Value::of_text(option) == Value::Number,
                None => is_name(word),
            };
            if rest.iter().all(is_plain) { Value::Word } else { Value::Unknown }
        }
        ("git", ["branch", "--show-current"]) => Value::Word,
        _ => Value::Unknown,
    }
}
