//! Finds names of tools in a text.

use serde_json::{Map, Value};

/// Tool that the agent may call.
#[derive(Clone, Copy, Debug)]
pub struct CallableTool<'t> {
    pub name: &'t str,
    /// JSON Schema of the tool's arguments.
    pub parameters: &'t Value,
}

impl CallableTool<'_> {
    pub(super) fn properties(&self) -> Option<&Map<String, Value>> {
        self.parameters.get("properties").and_then(Value::as_object)
    }

    pub(super) fn has_parameter(&self, key: &str) -> bool {
        self.properties().is_some_and(|properties| properties.contains_key(key))
    }
}

/// Searches one reply for tool calls.
pub(super) struct Finder<'t> {
    pub(super) tools: &'t [CallableTool<'t>],
    /// True if the reply consists only of code fences.
    pub(super) is_all: bool,
    /// True if the text around the code fences says that work is done. Code fences then contain results of the work,
    /// not tool calls.
    pub(super) reports: bool,
}

impl<'t> Finder<'t> {
    /// Returns the tool with this name. Ignores a prefix of the name: `functions.`, `default_api:`, `functions/`.
    pub(super) fn find_tool(&self, name: &str) -> Option<&'t CallableTool<'t>> {
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
