//! The kinds of values that variables and substitutions can have, as far as they affect the arguments of commands.

use std::collections::BTreeMap;

/// Kinds of text that a variable can have, from the most to the least certain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    Number,
    /// The variable is a number, or the empty text if a command failed.
    Count,
    /// The variable is a single word without spaces, or the empty text. The word is not an option.
    Word,
    /// The variable is a text that is not an option, if it is in quotes.
    Path,
    Unknown,
}

impl Value {
    pub(super) fn join(self, other: Self) -> Self {
        self.max(other)
    }

    /// Returns the kind of a text in a shell script that contains no quotes and no expansions.
    pub(super) fn of_text(text: &str) -> Self {
        if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
            Self::Number
        } else if text.starts_with("/dev/")
            || !text.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_".contains(c))
        {
            // bash opens a network connection for a name below `/dev/tcp`.
            Self::Unknown
        } else if text.contains(|c: char| c.is_whitespace() || "*?[".contains(c)) {
            Self::Path
        } else {
            Self::Word
        }
    }
}

/// Shell variables that a command line sets, with the kinds of their values.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Values {
    set: BTreeMap<String, Value>,
    /// Kind of value of all shell variables that the command line does not set.
    otherwise: Value,
}

impl Values {
    /// Returns the assumptions about shell variables before the first pass over a command line: each variable has the
    /// most harmless kind. A pass may replace a kind with a less certain one.
    pub(super) fn hopeful() -> Self {
        Self { set: BTreeMap::new(), otherwise: Value::Number }
    }

    pub(super) fn none() -> Self {
        Self { set: BTreeMap::new(), otherwise: Value::Unknown }
    }

    pub(super) fn join(&mut self, other: Self) {
        for (name, value) in other.set {
            self.set(&name, value);
        }
    }

    pub(super) fn set(&mut self, name: &str, value: Value) {
        let before = self.set.get(name).copied().unwrap_or(value);
        self.set.insert(name.to_owned(), value.join(before));
    }

    /// Returns the kind of a shell variable's value. A variable that the command line does not set comes from the
    /// environment.
    pub(super) fn lookup(&self, name: &str) -> Value {
        match (self.set.get(name), name) {
            (Some(value), _) => *value,
            (None, "PWD" | "OLDPWD" | "HOME") => Value::Path,
            (None, _) => self.otherwise,
        }
    }
}

/// Returns true if no shell and no program gives a special meaning to a variable with this name.
pub(super) fn is_free(name: &str) -> bool {
    const CAPITAL: [&str; 20] = [
        "F", "I", "J", "N", "X", "S", "D", "FILE", "FILES", "DIR", "DIRS", "BRANCH", "COMMIT", "HASH", "REV",
        "NAME", "COUNT", "TOTAL", "ROOT", "BASE",
    ];
    // In zsh, `path` is another name of `PATH`.
    const TAKEN: [&str; 9] =
        ["path", "fpath", "cdpath", "manpath", "mailpath", "module_path", "fignore", "histchars", "psvar"];
    let is_lower = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (is_lower && name != "_" && !name.ends_with("proxy") && !TAKEN.contains(&name)) || CAPITAL.contains(&name)
}

/// Returns true if the environment variable changes only what the output of a program looks like.
pub(crate) fn only_shapes_output(name: &str, value: &str) -> bool {
    let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || "_.@:+-".contains(c));
    let is_zone =
        || value.chars().all(|c| c.is_ascii_alphanumeric() || "_+-/".contains(c)) && !value.starts_with('/');
    match name {
        "TZ" => is_zone(),
        "PAGER" | "GIT_PAGER" | "MANPAGER" | "SYSTEMD_PAGER" => matches!(value, "" | "cat"),
        "LANG"
        | "LANGUAGE"
        | "NO_COLOR"
        | "CLICOLOR"
        | "CLICOLOR_FORCE"
        | "FORCE_COLOR"
        | "COLUMNS"
        | "LINES"
        | "TERM"
        | "GIT_OPTIONAL_LOCKS"
        | "GIT_TERMINAL_PROMPT"
        | "CI" => is_plain,
        name => name.starts_with("LC_") && is_plain,
    }
}
