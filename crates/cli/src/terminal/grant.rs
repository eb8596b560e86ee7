//! What a grant covers, in words: the same on the card that offers it and in the list of those given.

use serde::Deserialize;
use serde_json::Value;

use super::escape;

/// As it stands on a card, and among the grants of a session.
#[derive(Debug, Deserialize)]
pub(crate) struct Covered {
    pub tool: String,
    pub workspace: String,
    #[serde(default)]
    commands: Vec<Command>,
}

#[derive(Debug, Deserialize)]
struct Command {
    program: String,
    #[serde(default)]
    subcommand: Option<String>,
    writes: bool,
    #[serde(default)]
    files: Vec<String>,
}

impl Covered {
    /// `None`: it is not there, or not as this version understands it.
    pub(crate) fn of(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Every program of a command line, or every call of the tool.
    pub(crate) fn words(&self) -> String {
        if self.commands.is_empty() {
            return format!("every `{}`", escape::line(&self.tool));
        }
        let commands: Vec<String> = self.commands.iter().map(Command::words).collect();
        format!("every {}", commands.join(", "))
    }
}

impl Command {
    fn words(&self) -> String {
        let sub = self.subcommand.as_deref().map(|sub| format!(" {}", escape::line(sub))).unwrap_or_default();
        let writes = if self.writes { "" } else { " (reading only)" };
        let files: Vec<_> = self.files.iter().map(|file| format!("`{}`", escape::line(file))).collect();
        let files = if files.is_empty() {
            String::new()
        } else {
            format!(" redirected to or from no file but {}", files.join(", "))
        };
        format!("`{}{sub} …`{writes}{files}", escape::line(&self.program))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_program_of_a_line_is_named() {
        let table = [
            (json!({"tool": "edit_file", "workspace": "/w"}), "every `edit_file`"),
            (
                json!({"tool": "run_command", "workspace": "/w", "commands": [
                    {"program": "cargo", "subcommand": "test", "writes": true},
                    {"program": "sort", "writes": false, "files": ["a.txt"]},
                ]}),
                "every `cargo test …`, `sort …` (reading only) redirected to or from no file but `a.txt`",
            ),
        ];
        for (value, words) in table {
            assert_eq!(Covered::of(&value).unwrap().words(), words);
        }
        assert!(Covered::of(&Value::Null).is_none());
    }
}
