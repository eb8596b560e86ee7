//! awk programs that only print: an allow-list of tokens.
//!
//! A program on the list writes no file, runs no command and reads no other program. The reader parses only as much of
//! awk's grammar as it needs to find the tokens. A program that awk implementations may read differently is not on the
//! list.

use crate::sed::until;

/// Functions that only compute. `system`, `close`, `fflush` and functions that the program defines are absent.
const FUNCTIONS: &[&str] = &[
    "length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "tolower", "toupper", "int",
    "sqrt", "exp", "log", "sin", "cos", "atan2", "rand", "srand", "gensub", "strftime", "systime", "mktime",
    "strtonum", "and", "or", "xor", "compl", "lshift", "rshift",
];

const KEYWORDS: &[&str] = &[
    "BEGIN", "END", "if", "else", "while", "for", "do", "in", "print", "printf", "next", "exit", "break",
    "continue", "delete",
];

/// Words of awk that are not harmless and that a program cannot choose as names.
const RESERVED: &[&str] = &[
    "getline",
    "system",
    "close",
    "fflush",
    "function",
    "func",
    "return",
    "nextfile",
    "switch",
    "case",
    "default",
    "extension",
    "include",
    "load",
    "namespace",
    "eval",
];

/// Variables of awk that only control how text is divided. `ARGV` and the tables of gawk are absent.
const VARIABLES: &[&str] = &[
    "NR",
    "NF",
    "FNR",
    "FS",
    "OFS",
    "RS",
    "ORS",
    "FILENAME",
    "SUBSEP",
    "RSTART",
    "RLENGTH",
    "RT",
    "OFMT",
    "CONVFMT",
    "ENVIRON",
    "IGNORECASE",
    "FPAT",
    "FIELDWIDTHS",
];

/// Returns true if the words of awk are harmless options, a program that only prints, and files. Harmless options set
/// fields and variables. Each word comes with a flag: true if the shell expands it. Words behind the program are never
/// options.
pub(crate) fn only_prints<'a>(mut words: impl Iterator<Item = (&'a str, bool)>) -> bool {
    let program = loop {
        let Some((word, expands)) = words.next() else { return false };
        if expands {
            return false;
        }
        let is_harmless = match word.split_at_checked(2) {
            Some(("-F", "")) => words.next().is_some_and(|(_, expands)| !expands),
            Some(("-F", _)) => true,
            Some(("-v", "")) => words.next().is_some_and(|(value, expands)| !expands && is_assignment(value)),
            Some(("-v", value)) => is_assignment(value),
            _ if word.starts_with('-') => false,
            _ => break word,
        };
        if !is_harmless {
            return false;
        }
    };
    // gawk opens connections for names below `/inet`.
    let is_file = |word: &str| !word.starts_with(['-', '+']) && !word.contains("/inet");
    words.all(|(word, _)| is_file(word)) && Reader::of(program).is_some()
}

fn is_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && is_name(name))
}

fn is_name(name: &str) -> bool {
    let is_chosen = name.len() == 1 || name.contains(|c: char| c.is_ascii_lowercase());
    let is_word = [FUNCTIONS, KEYWORDS, RESERVED].iter().any(|words| words.contains(&name));
    name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && (VARIABLES.contains(&name) || (is_chosen && !is_word))
}

/// Token before the current one. It decides whether `/` divides or begins a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    /// An operator, or the start: a value has to follow.
    Operator,
    /// A name, a number or `]`.
    Value,
    /// Either, or implementations differ.
    Unsure,
}

struct Reader<'p> {
    rest: &'p str,
    before: Before,
    parentheses: usize,
    braces: usize,
}

impl<'p> Reader<'p> {
    /// Reads a program to its end. None if a token may do more than compute and print.
    fn of(program: &'p str) -> Option<()> {
        let mut reader = Self { rest: program, before: Before::Operator, parentheses: 0, braces: 0 };
        while let Some(c) = reader.rest.chars().next() {
            reader.token(c)?;
        }
        (reader.parentheses == 0 && reader.braces == 0).then_some(())
    }

    fn token(&mut self, c: char) -> Option<()> {
        if c.is_ascii_alphabetic() || c == '_' {
            return self.word();
        }
        self.rest = &self.rest[c.len_utf8()..];
        self.before = match c {
            ' ' | '\t' => self.before,
            '0'..='9' | '.' => {
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                Before::Value
            }
            '"' => {
                self.string()?;
                Before::Unsure
            }
            '/' => match self.before {
                Before::Operator => {
                    self.rest = until(self.rest, '/')?;
                    Before::Unsure
                }
                // `/=` is an assignment, or the beginning of a pattern.
                Before::Value if !self.rest.starts_with('=') => Before::Operator,
                Before::Value | Before::Unsure => return None,
            },
            '(' => {
                self.parentheses += 1;
                Before::Operator
            }
            ')' => {
                self.parentheses = self.parentheses.checked_sub(1)?;
                Before::Unsure
            }
            '{' => {
                self.braces += 1;
                Before::Operator
            }
            '}' => {
                self.braces = self.braces.checked_sub(1)?;
                Before::Operator
            }
            '[' => Before::Operator,
            ']' => Before::Value,
            '$' => Before::Unsure,
            // Outside parentheses `>` may redirect the output of `print` into a file.
            '>' if self.before != Before::Operator && (self.parentheses > 0 || self.braces == 0) => {
                Before::Operator
            }
            '+' | '-' if self.rest.starts_with(c) => {
                self.rest = &self.rest[1..];
                Before::Unsure
            }
            // Rejects pipes: `|` and `|&` run a command.
            '|' | '&' => {
                self.rest = self.rest.strip_prefix(c)?;
                Before::Operator
            }
            ';' | '\n' | ',' | '+' | '-' | '*' | '%' | '^' | '=' | '<' | '!' | '~' | '?' | ':' => {
                Before::Operator
            }
            _ => return None,
        };
        Some(())
    }

    fn word(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_call = rest.trim_start_matches([' ', '\t']).starts_with('(');
        self.before = if KEYWORDS.contains(&word) {
            // `for (print > "f";;)` writes a file, too.
            if word.starts_with("print") && self.parentheses > 0 {
                return None;
            }
            Before::Unsure
        } else if FUNCTIONS.contains(&word) {
            Before::Unsure
        } else if is_name(word) && !is_call {
            Before::Value
        } else {
            return None;
        };
        Some(())
    }

    fn string(&mut self) -> Option<()> {
        let mut chars = self.rest.chars();
        loop {
            match chars.next()? {
                '"' => break,
                '\\' => {
                    chars.next().filter(|c| *c != '\n')?;
                }
                '\n' => return None,
                _ => {}
            }
        }
        self.rest = chars.as_str();
        Some(())
    }
}
