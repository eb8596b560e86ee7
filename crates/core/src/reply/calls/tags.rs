//! Tool calls that are written as tags: remains of a model's template, and elements that are named after a tool.

use super::finder::{CallableTool, Finder};
use super::objects;

const TAGS: &[&str] = &[
    "<tool_call",
    "<toolcall",
    "<tool_use",
    "<tool_code",
    "<function=",
    "<function_call",
    "<start_function_call",
    "<invoke",
    ":invoke name=",
    "<|tool_call",
    "<|python_tag|>",
    "<｜tool▁call",
    "<|tool▁call",
    "<｜dsml｜",
    "<|dsml|",
    "<|channel|>commentary to=",
    "to=functions.",
    "[tool_call",
    "[tool_use",
];

/// Names of tags whose element contains the name of a tool, such as `<tool>`.
const NAMING: &[&str] = &[
    "tool",
    "tool_name",
    "name",
    "function",
    "function_name",
    "action",
    "call",
    "recipient",
    "recipient_name",
];

/// First line of a patch in a format that some models use. [`PATCHED`] has the lines that begin the description of a
/// change.
const PATCH: &str = "*** Begin Patch";
const PATCHED: &[&str] = &["*** Add File:", "*** Update File:", "*** Delete File:", "*** End Patch"];

pub(super) fn find_tag(text: &str) -> Option<&'static str> {
    let lower = text.to_lowercase();
    TAGS.iter().find(|tag| lower.contains(**tag)).copied()
}

impl Finder<'_> {
    /// Returns the name of the called tool if the text is an element such as `<read_file><path>a</path></read_file>`,
    /// `<read_file path="a"/>` or `<tool>read_file</tool><args>…`.
    pub(super) fn as_element(&self, text: &str) -> Option<String> {
        let lower: String = text.to_lowercase().chars().filter(|each| !each.is_whitespace()).collect();
        let is_element = |tool: &&CallableTool<'_>| {
            let open = format!("<{}", tool.name);
            let is_pair = text.contains(&format!("{open}>")) && text.contains(&format!("</{}>", tool.name));
            let with_attributes = text.match_indices(&open).any(|(at, _)| {
                let rest = &text[at + open.len()..];
                let rest = rest.split_once('>').map_or(rest, |(within, _)| within);
                let attribute = rest.trim_start().split('=').next().unwrap_or_default().trim();
                rest.trim() == "/" || rest.starts_with(char::is_whitespace) && tool.has_parameter(attribute)
            });
            let name = tool.name.to_lowercase();
            let is_named = NAMING.iter().any(|tag| lower.contains(&format!("<{tag}>{name}</{tag}>")));
            let has_arguments = objects::ARGUMENTS.iter().any(|key| lower.contains(&format!("<{key}>")))
                || tool.properties().is_some_and(|all| {
                    all.keys().any(|key| lower.contains(&format!("<{}>", key.to_lowercase())))
                });
            is_pair || with_attributes || is_named && has_arguments
        };
        self.tools.iter().find(is_element).map(|tool| tool.name.to_owned())
    }

    /// Returns the name of the called tool if the text is a patch. Some models write patches as the input of a tool.
    pub(super) fn as_patch(&self, text: &str) -> Option<String> {
        let mut lines = text.lines().map(str::trim);
        lines.find(|line| *line == PATCH)?;
        lines.find(|line| PATCHED.iter().any(|mark| line.starts_with(mark)))?;
        let edits = self.tools.iter().find(|tool| tool.name.contains("patch") || tool.name.contains("edit"));
        Some(edits.map_or(PATCH, |tool| tool.name).to_owned())
    }
}
