//! Values of variables and substitutions, as far as they matter for a word that becomes an argument.

use std::collections::BTreeMap;

/// Kinds of text, from the most certain to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Value {
    /// A number.
    Number,
    /// A number, or nothing where a command failed.
    Count,
    /// One word that is no option and holds no space, or nothing.
    Word,
    /// A text that is no option where it is quoted.
    Path,
    Unknown,
}

impl Value {
    pub(super) fn join(self, other: Self) -> Self {
        self.max(other)
    }

    /// The value of a text without quotes and expansions in it.
    pub(super) fn of_text(text: &str) -> Self {
        if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit()) {
            Self::Number
        } else if text.starts_with("/dev/")
            || !text.starts_with(|c: char| c.is_ascii_alphanumeric() || "./_".contains(c))
        {
            // bash connects to names below `/dev/tcp`.
            Self::Unknown
        } else if text.contains(|c: char| c.is_whitespace() || "*?[".contains(c)) {
            Self::Path
        } else {
            Self::Word
        }
    }
}

/// The variables that a line sets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Values {
    set: BTreeMap<String, Value>,
    /// Value of a variable that the line does not set.
    otherwise: Value,
}

impl Values {
    /// Values before the first pass: each variable holds what suits best, until a pass finds more.
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

    /// The value of a variable, of the environment where the line does not set it.
    pub(super) fn of(&self, name: &str) -> Value {
        match (self.set.get(name), name) {
            (Some(value), _) => *value,
            (None, "PWD" | "OLDPWD" | "HOME") => Value::Path,
            (None, _) => self.otherwise,
        }
    }
}

/// Returns true if no shell and no program takes a variable of that name for an order.
pub(super) fn is_free(name: &str) -> bool {
    const CAPITAL: [&str; 20] = [
        "F", "I", "J", "N", "X", "S", "D", "FILE", "FILES", "DIR", "DIRS", "BRANCH", "COMMIT", "HASH", "REV",
        "NAME", "COUNT", "TOTAL", "ROOT", "BASE",
    ];
    // `path` is `PATH` to zsh.
    const TAKEN: [&str; 9] =
        ["path", "fpath", "cdpath", "manpath", "mailpath", "module_path", "fignore", "histchars", "psvar"];
    let is_lower = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    (is_lower && name != "_" && !name.ends_with("proxy") && !TAKEN.contains(&name)) || CAPITAL.contains(&name)
}

/// Returns true if a variable says to a program only how it prints.
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
