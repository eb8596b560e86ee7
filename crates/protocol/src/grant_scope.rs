//! Text for people that describes which tool calls a grant allows. The card that offers a grant and the list of grants
//! show the same text.

use serde::Deserialize;
use serde_json::Value;

use crate::plain;
use crate::session::GrantCommand;

/// Calls that a grant allows, as in `payload.grant` of a card or in the list of grants of a session.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct GrantScope {
    pub tool: String,
    pub workspace: String,
    #[serde(default)]
    commands: Vec<GrantCommand>,
    /// Description of the calls that the grant allows, as the crate `core` wrote it.
    #[serde(default)]
    words: Option<String>,
    /// Recent commands of the run that the grant would have allowed.
    #[serde(default)]
    past: Vec<String>,
    /// Calls that a person refused before, and that the grant never allows.
    #[serde(default)]
    refused: Vec<String>,
}

impl GrantScope {
    /// Parses the scope of a grant. Returns `None` if the value is absent or has an unknown format.
    pub fn from_value(value: &Value) -> Option<Self> {
        Self::deserialize(value).ok()
    }

    /// Describes the calls that the grant allows: certain commands, or every call of a tool.
    pub fn describe(&self) -> String {
        if let Some(words) = &self.words {
            return plain::line(words).into_owned();
        }
        if self.commands.is_empty() {
            return format!("every `{}`", plain::line(&self.tool));
        }
        let commands: Vec<String> = self.commands.iter().map(describe_command).collect();
        format!("every {}", commands.join(", "))
    }

    /// Describes the calls that the grant allows, and their directory. If the user interface already shows the
    /// directory `here`, the text says `this folder` instead of the path.
    pub fn sentence(&self, here: Option<&str>) -> String {
        // The text from `core` already names the directory.
        if self.words.is_some() {
            return self.describe();
        }
        let place = match here {
            Some(here) if here == self.workspace => "this folder".into(),
            Some(_) | None => plain::line(&self.workspace),
        };
        format!("{} in {place}", self.describe())
    }

    /// Returns the recent commands of the run that the grant would have allowed, formatted as code. Returns `None` if
    /// there are none.
    pub fn past(&self) -> Option<String> {
        let past: Vec<String> = self.past.iter().map(|line| format!("`{}`", plain::line(line))).collect();
        (!past.is_empty()).then(|| past.join(", "))
    }

    /// Returns the calls that a person refused before, and that the grant never allows, on one line. Returns `None` if
    /// there are none.
    pub fn refused(&self) -> Option<String> {
        let refused: Vec<_> = self.refused.iter().map(|line| plain::line(line)).collect();
        (!refused.is_empty()).then(|| refused.join(", "))
    }
}

fn describe_command(command: &GrantCommand) -> String {
    let sub = command.subcommand.as_deref().map(|sub| format!(" {}", plain::line(sub))).unwrap_or_default();
    let writes = if command.writes { "" } else { " (reading only)" };
    let files: Vec<_> = command.files.iter().map(|file| format!("`{}`", plain::line(file))).collect();
    let files = if files.is_empty() {
        String::new()
    } else {
        format!(" redirected only to or from {}", files.join(", "))
    };
    format!("`{}{sub} …`{writes}{files}", plain::line(&command.program))
}
