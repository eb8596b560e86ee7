//! What a card says of a command's effect, and of the scripts that it names: one text for terminal, pages and browser.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::plain;

/// What the machine lets a command do that is approved with this card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "text": "write the workspace, but not what your own tools run by themselves", "is_unusual": false
}))]
pub struct CommandEffect {
    /// Goes on after “it may”.
    pub text: String,
    /// More than commands usually may.
    pub is_unusual: bool,
}

impl CommandEffect {
    /// Of the payload of a call; `None` where it says nothing of an effect.
    pub fn of(payload: &Value) -> Option<Self> {
        let asked = Self::asked_for(payload)?;
        let sandbox = payload.get("sandbox").and_then(Value::as_str);
        if !matches!(sandbox, Some("partial" | "none")) {
            return Some(asked);
        }
        let text =
            format!("{}; that is what is asked for, and this machine does not hold it to that", asked.text);
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
            "workspace" => usual("write the workspace, but not what your own tools run by themselves"),
            "guarded" => Some(Self {
                text: "write the workspace, and what your own tools run by themselves".to_owned(),
                is_unusual: true,
            }),
            _ => None,
        }
    }
}

/// A file of the workspace that a command names to be run, as it is bound to the approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script<'a> {
    pub path: &'a str,
    /// Its beginning; `None`: it is no text.
    pub text: Option<&'a str>,
    pub truncated: bool,
}

impl<'a> Script<'a> {
    /// Names the scripts of a payload of which no card shows all. `None` if every script is shown.
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

    /// Scripts of a payload.
    pub fn all(payload: &'a Value) -> impl Iterator<Item = Self> {
        let scripts = payload.get("scripts").and_then(Value::as_array).into_iter().flatten();
        scripts.filter_map(|script| {
            let truncated = script.get("truncated").and_then(Value::as_bool).unwrap_or(false);
            let text = script.get("text").and_then(Value::as_str);
            Some(Self { path: script.get("path")?.as_str()?, text, truncated })
        })
    }
}
