//! Describes the effects that a command may have, and the scripts that it runs. The terminal, the pages and the browser
//! show the same text.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::plain;

/// Effects that an approved command may have inside the sandbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "text": "write the workspace, except files that your own tools run automatically", "is_unusual": false
}))]
pub struct CommandEffect {
    /// Description of the effects. The text continues the sentence “the command may”.
    pub text: String,
    /// True if the effects exceed those of an ordinary command, so that the card emphasizes them.
    pub is_unusual: bool,
}

impl CommandEffect {
    /// Returns the effects of a command that the payload of its call describes, or `None` if the payload describes no
    /// effects.
    pub fn from_payload(payload: &Value) -> Option<Self> {
        let asked = Self::asked_for(payload)?;
        let sandbox = payload.get("sandbox").and_then(Value::as_str);
        if !matches!(sandbox, Some("partial" | "none")) {
            return Some(asked);
        }
        let text = format!("{}; this machine does not enforce this limit", asked.text);
        Some(Self { text, is_unusual: true })
    }

    fn asked_for(payload: &Value) -> Option<Self> {
        let effect = payload.get("effect")?;
        let usual = |text: &str| Some(Self { text: text.to_owned(), is_unusual: false });
        if let Some(places) = effect.pointer("/writes/places").and_then(Value::as_array) {
            let places: Vec<&str> = places.iter().filter_map(Value::as_str).collect();
            return usual(&format!("write only {}", places.join(", ")));
        }
        match effect.as_str()? {
            "reads" => {
                usual("only read: it writes and executes nothing of the workspace, and has no network")
            }
            "workspace" => usual("write the workspace, except files that your own tools run automatically"),
            "guarded" => Some(Self {
                text: "write the workspace, including files that your own tools run automatically".to_owned(),
                is_unusual: true,
            }),
            _ => None,
        }
    }
}

/// File in the workspace that a command runs. The approval is bound to the content of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script<'a> {
    pub path: &'a str,
    /// Beginning of the script. `None` if the file is not text.
    pub text: Option<&'a str>,
    pub truncated: bool,
}

impl<'a> Script<'a> {
    /// Returns a sentence that names the scripts of which an interrupt's card shows only a part. Returns `None` if the
    /// card shows all scripts completely.
    pub(crate) fn unseen_of(payload: &Value) -> Option<String> {
        let unseen: Vec<String> = Script::all(payload)
            .filter_map(|script| match (script.text, script.truncated) {
                (Some(_), false) => None,
                (Some(_), true) => Some(format!("the rest of {}", plain::line(script.path))),
                (None, _) => Some(format!("{}, which is not text", plain::line(script.path))),
            })
            .collect();
        (!unseen.is_empty()).then(|| format!("Not shown here: {}.", unseen.join(", ")))
    }

    /// Returns the scripts that run with the call in an interrupt's payload.
    pub fn all(payload: &'a Value) -> impl Iterator<Item = Self> {
        let scripts = payload.get("scripts").and_then(Value::as_array).into_iter().flatten();
        scripts.filter_map(|script| {
            let truncated = script.get("truncated").and_then(Value::as_bool).unwrap_or(false);
            let text = script.get("text").and_then(Value::as_str);
            Some(Self { path: script.get("path")?.as_str()?, text, truncated })
        })
    }
}
