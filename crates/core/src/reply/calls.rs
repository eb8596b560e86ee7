//! Whether a text holds a tool call that should have been made: as JSON, in the tags of some model, as a call in code.
//!
//! Only names of the agent's own tools count, but for tags and keys that nothing else is written with. What stands in
//! `inline code` is told, not called, and so is a tool's declaration.

use serde_json::Value;

use super::prose::{self, Segment};

/// A tool that the agent may call.
#[derive(Clone, Copy, Debug)]
pub struct Known<'t> {
    pub name: &'t str,
    /// JSON Schema of its arguments.
    pub parameters: &'t Value,
}

/// What models put around a call that their template should have taken out of the text.
const TAGS: &[&str] = &[
    "<tool_call",
    "<toolcall",
    "<tool_use",
    "<tool_code",
    "<function=",
    "<function_call",
    "<start_function_call",
    "<invoke name=",
    "<|tool_call",
    "<|python_tag|>",
    "<｜tool▁call",
    "<|tool▁call",
    "<|channel|>commentary to=",
    "to=functions.",
    "[tool_call",
    "[tool_use",
];

/// Keys of a call's name. The first two are written for nothing else: with arguments beside them, any name counts.
const NAMES: &[&str] =
    &["tool", "tool_name", "name", "function", "function_name", "action", "recipient_name", "command"];
const ARGUMENTS: &[&str] =
    &["arguments", "parameters", "params", "args", "input", "action_input", "tool_input", "kwargs"];

/// Objects looked at in one text: each may be read to its end.
const OBJECTS: usize = 64;

/// The tool that a text calls without calling it; where it names none, the tag.
pub fn written_call(text: &str, tools: &[Known<'_>]) -> Option<String> {
    let said = prose::said(text);
    let finder = Finder { tools };
    prose::segments(&said).iter().find_map(|segment| match segment {
        Segment::Fenced(lines) => finder.in_fence(lines),
        Segment::Prose(lines) => finder.in_prose(lines),
    })
}

struct Finder<'t> {
    tools: &'t [Known<'t>],
}

impl Finder<'_> {
    fn in_fence(&self, lines: &[&str]) -> Option<String> {
        let body = lines.join("\n");
        self.in_json(&body)
            // Documentation shows tags too: here they count with a tool of the agent's.
            .or_else(|| tag(&body).and_then(|_| self.named_in(&body)))
            .or_else(|| self.only_calls(lines))
            .or_else(|| self.as_element(&body))
    }

    fn in_prose(&self, lines: &[&str]) -> Option<String> {
        let text = prose::without_code(&lines.join("\n"));
        if let Some(tag) = tag(&text) {
            return Some(self.named_in(&text).unwrap_or_else(|| tag.to_owned()));
        }
        self.in_json(&text)
            .or_else(|| text.split("\n\n").find_map(|part| self.code_call(part.trim())))
            .or_else(|| text.lines().find_map(|line| self.code_call(line.trim())))
            .or_else(|| self.as_element(&text))
            .or_else(|| self.as_action(&text))
    }

    fn known(&self, name: &str) -> Option<&Known<'_>> {
        let name = ["functions.", "tools.", "default_api."]
            .iter()
            .find_map(|of| name.strip_prefix(of))
            .unwrap_or(name);
        self.tools.iter().find(|tool| tool.name == name.trim())
    }

    fn named_in(&self, text: &str) -> Option<String> {
        let words = text.split(|each: char| !(each.is_alphanumeric() || each == '_' || each == '-'));
        let mut found = words.filter_map(|word| self.tools.iter().find(|tool| tool.name == word));
        found.next().map(|tool| tool.name.to_owned())
    }

    /// Every object and list in a text, also between words; what is almost JSON by its keys.
    fn in_json(&self, text: &str) -> Option<String> {
        let mut from = 0;
        for _ in 0..OBJECTS {
            let at = from + text[from..].find(['{', '['])?;
            let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
            let (found, next) = if let Some(Ok(value)) = values.next() {
                (self.call_in(&value), at + values.byte_offset().max(1))
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

    fn call_in(&self, value: &Value) -> Option<String> {
        match value {
            Value::Array(items) => items.iter().find_map(|item| self.call_in(item)),
            Value::Object(object) => {
                for key in ["tool_calls", "tool_call", "function_call", "function", "tool"] {
                    let inner = object.get(key).filter(|inner| inner.is_object() || inner.is_array());
                    if let Some(name) = inner.and_then(|inner| self.call_in(inner)) {
                        return Some(name);
                    }
                }
                if let [(key, Value::Object(_))] = object.iter().collect::<Vec<_>>()[..]
                    && let Some(tool) = self.known(key)
                {
                    return Some(tool.name.to_owned());
                }
                let named = NAMES.iter().find_map(|key| Some((*key, object.get(*key)?.as_str()?)))?;
                let arguments = ARGUMENTS.iter().find_map(|key| object.get(*key));
                if arguments.is_some_and(is_schema) {
                    return None;
                }
                let (key, name) = named;
                let is_tool_key = matches!(key, "tool" | "tool_name");
                match self.known(name) {
                    Some(tool) => {
                        let flat = object
                            .keys()
                            .any(|key| tool.parameters.pointer(&format!("/properties/{key}")).is_some());
                        (arguments.is_some() || is_tool_key || flat).then(|| tool.name.to_owned())
                    }
                    None => (arguments.is_some() && is_tool_key).then(|| name.to_owned()),
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    /// An object that can not be read, such as one with line ends within a string, by its first keys.
    fn almost(&self, text: &str) -> Option<String> {
        let object = text.strip_prefix('{')?;
        let squeezed: String = object.chars().take(2_000).filter(|each| !each.is_whitespace()).collect();
        let named = NAMES.iter().find_map(|key| squeezed.strip_prefix(&format!("\"{key}\":\"")))?;
        let (name, rest) = named.split_once('"')?;
        let has_arguments = ARGUMENTS.iter().any(|key| rest.contains(&format!("\"{key}\":")));
        self.known(name).filter(|_| has_arguments).map(|tool| tool.name.to_owned())
    }

    /// `read_file(path="a")`, and nothing else.
    fn code_call(&self, text: &str) -> Option<String> {
        let text = text.trim_end_matches(';');
        let text = text.strip_prefix("await ").unwrap_or(text);
        let text = text.strip_prefix("print(").and_then(|inner| inner.strip_suffix(')')).unwrap_or(text);
        let (name, rest) = text.split_once('(')?;
        let tool = self.known(name)?;
        let arguments = rest.strip_suffix(')')?.trim();
        let names_one = || {
            let properties = tool.parameters.get("properties").and_then(Value::as_object)?;
            let (key, _) = arguments.split_once(['=', ':'])?;
            properties
                .contains_key(key.trim_matches(|each: char| !(each.is_alphanumeric() || each == '_')))
                .then_some(())
        };
        let is_call =
            arguments.is_empty() || arguments.starts_with(['"', '\'', '{']) || names_one().is_some();
        is_call.then(|| tool.name.to_owned())
    }

    /// A block of code that consists of calls: an example has other lines too.
    fn only_calls(&self, lines: &[&str]) -> Option<String> {
        if let Some(name) = self.code_call(lines.join(" ").trim()) {
            return Some(name);
        }
        let mut lines =
            lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = self.code_call(lines.next()?)?;
        lines.all(|line| self.code_call(line).is_some()).then_some(first)
    }

    /// `<read_file><path>a</path></read_file>`.
    fn as_element(&self, text: &str) -> Option<String> {
        let is_element = |tool: &&Known<'_>| {
            text.contains(&format!("<{}>", tool.name)) && text.contains(&format!("</{}>", tool.name))
        };
        self.tools.iter().find(is_element).map(|tool| tool.name.to_owned())
    }

    /// `Action: read_file`, with `Action Input:` on a line after it.
    fn as_action(&self, text: &str) -> Option<String> {
        let mut lines = text.lines().map(str::trim);
        let tool = lines.find_map(|line| self.known(line.strip_prefix("Action:")?.trim()))?;
        lines.any(|line| line.starts_with("Action Input:")).then(|| tool.name.to_owned())
    }
}

fn tag(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    TAGS.iter().find(|tag| lower.contains(**tag)).copied()
}

/// A tool's declaration has a schema where a call has arguments.
fn is_schema(value: &Value) -> bool {
    value.get("type").and_then(Value::as_str) == Some("object")
        && value.get("properties").is_some_and(Value::is_object)
}
