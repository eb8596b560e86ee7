//! Recognises awk programs that only print. An awk program is accepted if all its tokens are in an allow-list.
//!
//! An accepted program writes no file, runs no command and reads no second program. The grammar of awk is parsed only
//! as far as is needed to find the tokens. A program is rejected if awk implementations may understand it differently.

use crate::sed::until;

/// Functions of awk that only compute. Calls of `system`, `close`, `fflush` and user-defined functions are not
/// accepted.
const FUNCTIONS: &[&str] = &[
    "length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "tolower", "toupper", "int",
    "sqrt", "exp", "log", "sin", "cos", "atan2", "rand", "srand", "gensub", "strftime", "systime", "mktime",
    "strtonum", "and", "or", "xor", "compl", "lshift", "rshift",
];

const KEYWORDS: &[&str] = &[
    "BEGIN", "END", "if", "else", "while", "for", "do", "in", "print", "printf", "next", "exit", "break",
    "continue", "delete",
];

/// Reserved words of awk whose statements may have effects. An accepted program contains none of these words.
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

/// Built-in variables of awk that cause no other effects than on what is read and printed. `ARGV` and the special
/// arrays of gawk are left out on purpose.
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

/// Returns true if the words after `awk` are harmless options, then a program that only prints, and then files. Options
/// that set fields and variables are harmless. The flag of a word is true if the shell expands the word. A word after
/// the program is never an option.
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
    // gawk opens a network connection for a name below `/inet`.
    let is_file = |word: &str| !word.starts_with(['-', '+']) && !word.contains("/inet");
    words.all(|(word, _)| is_file(word)) && Reader::read_program(program).is_some()
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

/// Kind of the previous token of an awk program, which determines the meaning of a `/`: division after a value, the
/// start of a pattern after an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PreviousToken {
    /// Previous token of an awk program: an operator, or the start of the program. A value must follow.
    Operator,
    /// Previous token of an awk program: a name, a number or `]`.
    Value,
    /// It is unclear if the previous token of an awk program is a value or an operator, or awk implementations differ
    /// about it.
    Unsure,
}

struct Reader<'p> {
    rest: &'p str,
    before: PreviousToken,
    parentheses: usize,
    braces: usize,
}

impl<'p> Reader<'p> {
    /// Parses a complete awk program. Returns `None` if a token may do anything other than compute and print.
    fn read_program(program: &'p str) -> Option<()> {
        let mut reader = Self { rest: program, before: PreviousToken::Operator, parentheses: 0, braces: 0 };
        while let Some(c) = reader.rest.chars().next() {
            reader.token(c)?;
        }
        (reader.parentheses == 0 && reader.braces == 0).then_some(())
    }

    fn token(&mut self, c: char) -> Option<()> {
        if c.is_ascii_alphabetic() || c == '_' {
            return self.read_word();
        }
        self.rest = &self.rest[c.len_utf8()..];
        self.before = match c {
            ' ' | '\t' => self.before,
            '0'..='9' | '.' => {
                self.rest = self.rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
                PreviousToken::Value
            }
            '"' => {
                self.string()?;
                PreviousToken::Unsure
            }
            '/' => match self.before {
                PreviousToken::Operator => {
                    self.rest = until(self.rest, '/')?;
                    PreviousToken::Unsure
                }
                // After a value, `/=` may be an assignment or the beginning of a pattern.
                PreviousToken::Value if !self.rest.starts_with('=') => PreviousToken::Operator,
                PreviousToken::Value | PreviousToken::Unsure => return None,
            },
            '(' => {
                self.parentheses += 1;
                PreviousToken::Operator
            }
            ')' => {
                self.parentheses = self.parentheses.checked_sub(1)?;
                PreviousToken::Unsure
            }
            '{' => {
                self.braces += 1;
                PreviousToken::Operator
            }
            '}' => {
                self.braces = self.braces.checked_sub(1)?;
                PreviousToken::Operator
            }
            '[' => PreviousToken::Operator,
            ']' => PreviousToken::Value,
            '$' => PreviousToken::Unsure,
            // Outside parentheses, `>` may redirect the output of `print` into a file.
            '>' if self.before != PreviousToken::Operator && (self.parentheses > 0 || self.braces == 0) => {
                PreviousToken::Operator
            }
            '+' | '-' if self.rest.starts_with(c) => {
                self.rest = &self.rest[1..];
                PreviousToken::Unsure
            }
            // Pipes are rejected, because `|` and `|&` run a command.
            '|' | '&' => {
                self.rest = self.rest.strip_prefix(c)?;
                PreviousToken::Operator
            }
            ';' | '\n' | ',' | '+' | '-' | '*' | '%' | '^' | '=' | '<' | '!' | '~' | '?' | ':' => {
                PreviousToken::Operator
            }
            _ => return None,
        };
        Some(())
    }

    fn read_word(&mut self) -> Option<()> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let is_call = rest.trim_start_matches([' ', '\t']).starts_with('(');
        self.before = if KEYWORDS.contains(&word) {
            // `for (print > "f";;)` also writes a file.
            if word.starts_with("print") && self.parentheses > 0 {
                return None;
            }
            PreviousToken::Unsure
        } else if FUNCTIONS.contains(&word) {
            PreviousToken::Unsure
        } else if is_name(word) && !is_call {
            PreviousToken::Value
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
