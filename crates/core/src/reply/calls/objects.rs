//! Tool calls that are written as objects: JSON, invalid JSON, or only the arguments of a tool without its name.

use serde_json::{Map, Value};

use super::finder::{CallableTool, Finder};

/// Keys whose value can be the name of the called tool. The keys `tool` and `tool_name` are used only for calls. An
/// object with one of these two keys and with arguments is therefore a call of any tool.
const NAMES: &[&str] =
    &["tool", "tool_name", "name", "function", "function_name", "action", "recipient_name", "command"];
pub(super) const ARGUMENTS: &[&str] =
    &["arguments", "parameters", "params", "args", "input", "action_input", "tool_input", "kwargs"];

/// Keys whose value can be an object that contains the actual call. An object with several keys is searched only if it
/// has one of these keys. An object with one key is always searched.
const WRAPPERS: &[&str] = &[
    "tool_calls",
    "tool_call",
    "tool_uses",
    "tool_use",
    "function_call",
    "function_calls",
    "function",
    "tool",
    "tools",
    "calls",
    "call",
    "action",
    "actions",
    "response",
    "message",
    "content",
];

/// Names of tools that models know from their training data. A call of such a tool is found even if the agent does not
/// have the tool.
const FAMILIAR: &[&str] = &[
    "bash",
    "shell",
    "sh",
    "terminal",
    "python",
    "execute_command",
    "run_shell_command",
    "code_interpreter",
    "str_replace_editor",
    "str_replace_based_edit_tool",
    "apply_patch",
    "web_search",
    "browser",
    "computer",
];

/// Maximum number of objects that are searched in one text. The search for one object can read the text to its end.
const OBJECTS: usize = 64;

/// Maximum nesting depth at which calls are searched. A call is always near the outermost level.
const DEPTH: usize = 8;

/// Maximum number of characters of invalid JSON that are analysed.
const ALMOST_CHARS: usize = 2_000;

impl Finder<'_> {
    /// Searches every object and every list in a text for a tool call, including objects within prose. Returns the name
    /// of the called tool. From invalid JSON, only the keys are compared. `is_all` is true if the object or list is the
    /// whole text.
    pub(super) fn in_objects(&self, text: &str, is_all: bool) -> Option<String> {
        let mut from = 0;
        for _ in 0..OBJECTS {
            let at = from + text[from..].find(['{', '['])?;
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            let (found, next) = if let Some(Ok(value)) = values.next() {
                (self.call_in(&value, is_all, DEPTH), at + values.byte_offset().max(1))
            } else {
                (self.almost(&text[at..]), at + 1)
            };
            if found.is_some() {
                return found;
            }
            from = next;
        }
        None
    }

    fn call_in(&self, value: &Value, is_all: bool, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        match value {
            Value::Array(items) => items.iter().find_map(|item| self.call_in(item, is_all, depth)),
            Value::Object(object) => {
                if let [(key, Value::Object(_))] = object.iter().collect::<Vec<_>>()[..]
                    && let Some(tool) = self.find_tool(key)
                {
                    return Some(tool.name.to_owned());
                }
                let is_wrapper = |key: &str| object.len() == 1 || WRAPPERS.contains(&key);
                let mut inner = object
                    .iter()
                    .filter(|(key, inner)| is_wrapper(key) && (inner.is_object() || inner.is_array()));
                inner
                    .find_map(|(_, inner)| self.call_in(inner, is_all, depth))
                    .or_else(|| self.named_by(object, is_all))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    fn named_by(&self, object: &Map<String, Value>, is_all: bool) -> Option<String> {
        let (key, name) = NAMES.iter().find_map(|key| Some((*key, object.get(*key)?.as_str()?)))?;
        let arguments = ARGUMENTS.iter().find_map(|key| object.get(*key));
        if arguments.is_some_and(is_schema) {
            return None;
        }
        let is_tool_key = matches!(key, "tool" | "tool_name");
        if let Some(tool) = self.find_tool(name) {
            let flat = object.keys().any(|other| other != key && tool.has_parameter(other));
            return (arguments.is_some() || is_tool_key || flat).then(|| tool.name.to_owned());
        }
        let calls = arguments.is_some() && (is_tool_key || FAMILIAR.contains(&name.to_lowercase().as_str()))
            || is_all && key == "name" && arguments.is_some_and(Value::is_object);
        calls.then(|| name.to_owned())
    }

    /// Returns the name of the called tool if invalid JSON looks like a call by its first keys. Typical errors in such
    /// JSON are line breaks in strings, single quotes, and keys without quotes.
    fn almost(&self, text: &str) -> Option<String> {
        let object = text.strip_prefix('{')?;
        let squeezed: String = object
            .chars()
            .take(ALMOST_CHARS)
            .filter(|each| !each.is_whitespace() && !matches!(each, '"' | '\'' | '`'))
            .collect();
        let named = NAMES.iter().find_map(|key| squeezed.strip_prefix(&format!("{key}:")))?;
        let (name, rest) = named.split_once(',')?;
        let tool = self.find_tool(name)?;
        let has = |key: &str| {
            rest.match_indices(&format!("{key}:"))
                .find(|(at, _)| *at == 0 || rest[..*at].ends_with([',', '{']))
                .map(|(at, key)| &rest[at + key.len()..])
        };
        let arguments = ARGUMENTS.iter().find_map(|key| has(key));
        let is_declared = arguments.is_some_and(|of| of.starts_with("{type:object"));
        let flat = || tool.properties().is_some_and(|all| all.keys().any(|key| has(key).is_some()));
        (!is_declared && (arguments.is_some() || flat())).then(|| tool.name.to_owned())
    }

    /// Returns the name of a tool if the text is an object with arguments of this tool, such as `{"command": "ls"}`.
    /// The object must have every required key of the tool and no unknown key. If the text around the object reports
    /// completed work, the object belongs to the report and is not a call.
    pub(super) fn whole_arguments(&self, text: &str) -> Option<String> {
        if self.reports {
            return None;
        }
        let value: Value = serde_json::from_str(text.trim()).ok()?;
        // An object that contains only lists may be the requested result, such as a plan.
        let object = value.as_object().filter(|object| object.values().any(Value::is_string))?;
        let fits = |tool: &&CallableTool<'_>| {
            let needed = tool.parameters.get("required").and_then(Value::as_array);
            let mut needed = needed.into_iter().flatten().filter_map(Value::as_str).peekable();
            needed.peek().is_some()
                && needed.all(|key| object.contains_key(key))
                && object.keys().all(|key| tool.has_parameter(key))
        };
        self.tools.iter().find(fits).map(|tool| tool.name.to_owned())
    }
}

/// Returns true if the value is a JSON Schema. A schema in place of arguments shows that an object declares a tool and
/// does not call it.
fn is_schema(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("object")
        && value.get("properties").is_some_and(Value::is_object)
}
