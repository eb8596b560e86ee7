//! Names of an agent's tools in a text.

use serde_json::{Map, Value};

/// A tool that the agent may call.
#[derive(Clone, Copy, Debug)]
pub struct Known<'t> {
    pub name: &'t str,
    /// JSON Schema of its arguments.
    pub parameters: &'t Value,
}

impl Known<'_> {
    pub(super) fn properties(&self) -> Option<&Map<String, Value>> {
        self.parameters.get("properties").and_then(Value::as_object)
    }

    pub(super) fn takes(&self, key: &str) -> bool {
        self.properties().is_some_and(|properties| properties.contains_key(key))
    }
}

/// Looks for calls in one reply.
pub(super) struct Finder<'t> {
    pub(super) tools: &'t [Known<'t>],
    /// There is nothing beside what is fenced.
    pub(super) is_all: bool,
    /// The words beside what is fenced say that work is done: what is shown with them is its outcome.
    pub(super) reports: bool,
}

impl<'t> Finder<'t> {
    /// A tool by its name, also behind a namespace: `functions.`, `default_api:`, `functions/`.
    pub(super) fn known(&self, name: &str) -> Option<&'t Known<'t>> {
        let name = name.trim().trim_matches(['`', '"', '\'', '*']);
        let bare = name.rsplit(['.', '/', ':']).next().unwrap_or(name);
        self.tools.iter().find(|tool| tool.name == name || tool.name == bare)
    }

    pub(super) fn named_in(&self, text: &str) -> Option<String> {
        let words = text.split(|each: char| !(each.is_alphanumeric() || each == '_' || each == '-'));
        let mut found = words.filter_map(|word| self.tools.iter().find(|tool| tool.name == word));
        found.next().map(|tool| tool.name.to_owned())
    }
}
