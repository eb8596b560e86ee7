//! One text of an interrupt, and its comparison with the table of risk words.

use std::borrow::Cow;

use holdshort_command::Part;

use super::host;
use super::table::{MatchKind, Row, TABLE, Topic};
use crate::gate::smart;
use crate::level::Level;

/// Names of fields whose value is a shell command line.
const LINES: [&str; 8] =
    ["command", "cmd", "commands", "command_line", "shell", "script", "shell_command", "bash"];

/// Text of an interrupt, with the part of the interrupt from which it comes.
#[derive(Clone, Debug)]
pub(super) struct Text {
    place: &'static str,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Words(String),
    /// A shell command line. `read` has the words of the command's parts that do more than read. If `understood` is
    /// true, the command parser knows the effects of the programs, and `gate/stakes` reports these effects.
    Line {
        line: String,
        read: Vec<String>,
        understood: bool,
    },
    /// Name of a field whose value is true.
    Switch(String),
}

impl Text {
    pub(super) fn from_words(place: &'static str, text: &str) -> Self {
        Self { place, form: Form::Words(text.to_owned()) }
    }

    pub(super) fn switch(place: &'static str, name: &str) -> Self {
        Self { place, form: Form::Switch(name.to_owned()) }
    }

    /// Returns true if a field with this name contains a shell command line. A command line is searched completely,
    /// even if it is longer than other texts may be.
    pub(super) fn is_line(name: &str) -> bool {
        LINES.contains(&name)
    }

    /// Builds the text for the search of risk words from a field and its value. `place` describes the part of the
    /// interrupt.
    pub(super) fn from_member(place: &'static str, name: &str, text: &str) -> Self {
        if Self::is_line(name) {
            let (read, understood) = without_reading(text);
            Self { place, form: Form::Line { line: text.to_owned(), read, understood } }
        } else if matches!(text.trim().to_lowercase().as_str(), "true" | "yes" | "on") {
            Self::switch(place, name)
        } else {
            Self::from_words(place, text)
        }
    }

    pub(super) fn location(&self) -> &'static str {
        self.place
    }

    pub(super) fn line(&self) -> Option<&str> {
        match &self.form {
            Form::Line { line, .. } => Some(line),
            Form::Words(_) | Form::Switch(_) => None,
        }
    }

    /// Returns the text in the forms in which risk words are searched.
    pub(super) fn compared(&self) -> Compared<'_> {
        let (text, is_known, words) = match &self.form {
            Form::Words(text) => (Cow::from(text), false, &[][..]),
            Form::Line { read, understood, .. } => (Cow::from(read.join(" ")), *understood, read.as_slice()),
            Form::Switch(name) => return Compared { flags: vec![flag_name(name)], ..Compared::new(self) },
        };
        Compared {
            readings: smart::read(&text),
            flags: flags(&text),
            plain: words.iter().filter(|word| is_plain(word)).map(|word| word.to_lowercase()).collect(),
            recursive_and_forced: recursive_and_forced(&text),
            host: if is_known { None } else { host::first(&text) },
            ..Compared::new(self)
        }
    }
}

/// Forms of a text in which the risk words of the table are searched.
pub(super) struct Compared<'t> {
    pub(super) text: &'t Text,
    readings: Vec<smart::Text>,
    /// Names of options in the text, or the name of the field whose value is true.
    flags: Vec<String>,
    /// Words of a command line that are complete arguments, and so not part of a path or a message.
    plain: Vec<String>,
    recursive_and_forced: Option<String>,
    host: Option<String>,
}

impl<'t> Compared<'t> {
    fn new(text: &'t Text) -> Self {
        let (readings, flags, plain) = (Vec::new(), Vec::new(), Vec::new());
        Self { text, readings, flags, plain, recursive_and_forced: None, host: None }
    }

    /// Returns the risk words of a topic that occur in the text, each with its risk level. The words are spelled as in
    /// the text.
    pub(super) fn found(&self, topic: Topic) -> Vec<(String, Level)> {
        let form = &self.text.form;
        let is_known = matches!(form, Form::Line { understood: true, .. });
        let has_form = |word: &str| {
            if is_known {
                self.plain.iter().any(|said| smart::is_form_of(said, word))
            } else {
                self.readings.iter().any(|read| read.has(|said| smart::is_form_of(said, word)))
            }
        };
        // The command parser has already reported deletions and changes of permissions.
        let is_told = |word: &str| {
            is_known && !word.contains(' ') && (topic == Topic::Destructive || word.starts_with("ch"))
        };
        let mut found = Vec::new();
        for row in rows(topic) {
            for word in row.words {
                let is_there = match row.by {
                    MatchKind::Form => has_form(word),
                    MatchKind::Words => !is_told(word) && smart::says_exactly(&self.readings, word),
                    MatchKind::InLine => self.plain.iter().any(|said| said == word),
                    MatchKind::Numbered => self.readings.iter().any(|read| read.is_numbered(word)),
                    MatchKind::Flag => self.flags.iter().any(|flag| flag == word),
                };
                if is_there {
                    let dashes =
                        if row.by == MatchKind::Flag && !matches!(form, Form::Switch(_)) { "--" } else { "" };
                    found.push((format!("{dashes}{word}"), row.level));
                }
            }
        }
        match topic {
            Topic::Destructive => {
                found.extend(self.recursive_and_forced.clone().map(|word| (word, Level::High)));
            }
            Topic::Network => found.extend(self.host.clone().map(|host| (host, Level::Medium))),
            Topic::Production | Topic::Privilege => {}
        }
        found
    }
}

/// Converts the name of an option to the spelling in the table of risk words.
fn flag_name(name: &str) -> String {
    name.replace('_', "-").to_lowercase()
}

/// Returns true if a word consists of letters, digits, `-` and `_`.
fn is_plain(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
}

fn rows(topic: Topic) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.topic == topic)
}

/// Returns the names of the options in a text, without dashes and values, such as `force` for `--force=yes`. Leaves out
/// options whose value is false.
fn flags(text: &str) -> Vec<String> {
    let words =
        text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ',' | ';' | '(' | ')'));
    let options = words.filter_map(|word| word.strip_prefix('-'));
    let flag = |option: &str| {
        let option = option.trim_start_matches('-');
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let is_off = matches!(value.to_lowercase().as_str(), "false" | "no" | "0" | "off");
        (!is_off && !name.is_empty()).then(|| flag_name(name))
    };
    options.filter_map(flag).collect()
}

/// Returns an option that combines *recursive* and *force*, such as `-rf`, `-fr` or `-Rf`.
fn recursive_and_forced(text: &str) -> Option<String> {
    let is_both = |word: &&str| {
        let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
        letters.is_some_and(|letters| {
            letters.len() <= 4
                && letters.chars().all(|c| "rRfvidI".contains(c))
                && letters.contains('f')
                && letters.contains(['r', 'R'])
        })
    };
    text.split_whitespace().find(is_both).map(str::to_owned)
}

/// Returns the words of a command line without its parts that only read. For example, the text that `grep` searches for
/// is left out, because searching is not a risk. If the parser does not fully understand the line, returns all words.
fn without_reading(line: &str) -> (Vec<String>, bool) {
    let command = holdshort_command::parse(line);
    if command.is_read_only() {
        return (Vec::new(), true);
    }
    if command.opaque.is_some() {
        return (line.split_whitespace().map(str::to_owned).collect(), false);
    }
    let parts = command.parts.iter().chain(&command.guesses).filter(|part| !part.is_read_only());
    let words = parts.flat_map(|part| std::iter::once(&part.program).chain(&part.arguments)).cloned();
    // Code within the command line can be judged only by its words. If a command line is passed to a shell, it is
    // parsed instead.
    let is_code = |part: &Part| {
        let is_shell = matches!(part.program.as_str(), "sh" | "bash" | "dash");
        !part.arguments.is_empty() && part.is_inline_code() && !part.only_edits() && !is_shell
    };
    let understood = !command.parts.iter().chain(&command.guesses).any(is_code);
    (words.collect(), understood)
}
