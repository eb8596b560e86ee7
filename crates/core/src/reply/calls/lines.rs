//! Tool calls in lines of text: a line starts with the name of a tool, possibly after a label. The arguments are on the
//! same line or on the following lines.

use super::finder::{CallableTool, Finder};
use super::objects;
use crate::reply::prose;

/// Labels that can precede the name of a tool. A colon or an equals sign follows the label. All labels are in
/// lower case.
const LABELS: &[&str] = &[
    "tool",
    "tool name",
    "tool_name",
    "tool call",
    "tool_call",
    "tool use",
    "tool to use",
    "tool used",
    "using tool",
    "function",
    "function name",
    "function_name",
    "function call",
    "function_call",
    "action",
    "action name",
    "call",
    "calling",
    "calling tool",
    "call tool",
    "invoke",
    "invoking",
    "name",
    "use tool",
    "using",
    "execute",
    "executing",
    "next action",
    "command",
];

/// Labels that can stand at the beginning of a line with arguments, in addition to the keys of arguments in JSON
/// objects.
const ARGUMENT_LABELS: &[&str] =
    &["action input", "tool input", "with arguments", "with", "argument", "parameter"];

/// Maximum number of lines of one call. The limit keeps the run time linear in the length of the text, even if each
/// line looks like the start of a call.
const CALL_LINES: usize = 60;

/// Maximum number of lines between a tool's name and its arguments.
const LINES_BELOW: usize = 4;

impl Finder<'_> {
    /// Searches prose for a line that begins with a tool call. Returns the name of the called tool.
    pub(super) fn a_line_calls(&self, lines: &[&str]) -> Option<String> {
        (0..lines.len()).find_map(|at| {
            let lines = &lines[at..];
            self.call_in_code(lines).or_else(|| self.line_calls(lines))
        })
    }

    /// Returns the name of the tool that the first lines of a code fence call. Recognises the call by its label or by
    /// its form. The code fence must contain nothing but the call.
    pub(super) fn first_line_calls(&self, lines: &[&str]) -> Option<String> {
        let first = lines.iter().position(|line| !line.trim().is_empty() && !line.trim().starts_with('#'))?;
        self.line_calls(&lines[first..])
    }

    /// Returns the name of a tool that a block of code calls. The block must do nothing but make calls and print their
    /// results. A block with other lines is treated as an example.
    pub(super) fn only_calls(&self, lines: &[&str]) -> Option<String> {
        let first = lines.iter().map(|line| line.trim()).find(|line| !line.is_empty()).unwrap_or_default();
        if !first.ends_with([')', ';'])
            && let Some(name) = self.code_call(lines.join(" ").trim())
        {
            return Some(name);
        }
        let mut lines =
            lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let first = self.code_call(lines.next()?)?;
        lines.all(|line| self.code_call(line).is_some() || line.starts_with("print(")).then_some(first)
    }

    /// Returns the name of the called tool if these lines begin with a call that is written as code.
    fn call_in_code(&self, lines: &[&str]) -> Option<String> {
        let (first, below) = lines.split_first()?;
        let first = prose::without_code(labelled(first.trim()).1);
        self.code_call(&first).or_else(|| self.code_call_over(&first, below))
    }

    /// Returns the name of the called tool if the first of these lines begins with the name of a tool and arguments
    /// follow.
    fn line_calls(&self, lines: &[&str]) -> Option<String> {
        let line = lines.first()?.trim();
        let (label, rest) = labelled(line);
        let rest = if label.is_some() { rest.replace('`', "") } else { prose::without_code(rest) };
        let below = &lines[1..lines.len().min(1 + LINES_BELOW)];
        if label.is_some()
            && let Some(name) = self.code_call(&rest)
        {
            return Some(name);
        }
        let end = rest
            .find(|each: char| {
                !(each.is_alphanumeric() || matches!(each, '_' | '-' | '.' | '/' | '"' | '\'' | '*'))
            })
            .unwrap_or(rest.len());
        let tool = self.find_tool(&rest[..end])?;
        let beside = rest[end..].trim_start();
        let is_call = match beside.chars().next() {
            None => Self::below(tool, below),
            Some('{') => is_whole_object(beside, &lines[1..]),
            Some('[') => label.is_some() && beside.ends_with(']'),
            Some(':') => {
                let beside = beside[1..].trim();
                beside.is_empty() && Self::below(tool, below)
                    || beside.starts_with('{') && is_whole_object(beside, &lines[1..])
            }
            Some('-') => beside
                .strip_prefix("--")
                .is_some_and(|flag| tool.has_parameter(flag.split([' ', '=']).next().unwrap_or_default())),
            // This also matches `Action: read_file, Action Input: …`.
            Some(_) => key_of(beside.trim_start_matches([',', ';', '|', ' ']))
                .is_some_and(|(key, _)| tool.has_parameter(key) || is_argument_label(key)),
        };
        is_call.then(|| tool.name.to_owned())
    }

    /// Returns true if the lines after a tool's name contain arguments of the tool. The arguments follow a label, are
    /// `key: value` lines with parameters of the tool, or form an object.
    fn below(tool: &CallableTool<'_>, lines: &[&str]) -> bool {
        lines
            .iter()
            .map(|line| line.trim())
            .find(|line| !line.is_empty() && !line.starts_with("```"))
            .is_some_and(|line| {
                let line = line.trim_start_matches(['-', '*', ' ']);
                line.starts_with('{')
                    || key_of(line).is_some_and(|(key, _)| tool.has_parameter(key) || is_argument_label(key))
            })
    }

    /// Returns the name of the called tool if the whole text is one call, such as `read_file(path="a")`.
    fn code_call(&self, text: &str) -> Option<String> {
        let text = text.trim().trim_end_matches(';');
        let text = text.strip_prefix(">>>").map_or(text, str::trim_start);
        let text = text.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')).unwrap_or(text);
        let text = assigned(text);
        let text = text.strip_prefix("await ").unwrap_or(text);
        let text = text.strip_prefix("print(").and_then(|inner| inner.strip_suffix(')')).unwrap_or(text);
        let (name, rest) = text.split_once('(')?;
        let tool = self.find_tool(name)?;
        let arguments = rest.strip_suffix(')')?.trim();
        let is_call =
            arguments.is_empty() || arguments.starts_with(['"', '\'', '{']) || names_one(tool, arguments);
        is_call.then(|| tool.name.to_owned())
    }

    /// Returns the name of the called tool if the lines `first` and `below` form one call in code. An empty line ends
    /// the call.
    fn code_call_over(&self, first: &str, below: &[&str]) -> Option<String> {
        if !first.contains('(') || first.trim_end().ends_with(')') {
            return None;
        }
        let rest = below.iter().take(CALL_LINES).map(|line| line.trim()).take_while(|line| !line.is_empty());
        let text = std::iter::once(first.trim()).chain(rest).collect::<Vec<_>>().join(" ");
        self.code_call(&text)
    }
}

/// Splits a line into its label and the rest.
fn labelled(line: &str) -> (Option<&str>, &str) {
    let line = line.trim_start_matches([' ', '-', '*', '#']).trim_end_matches('*');
    let line = line.strip_prefix(">>>").map_or(line, str::trim_start);
    match key_of(line) {
        Some((key, rest)) if LABELS.contains(&key.to_lowercase().as_str()) => {
            (Some(key), rest.trim_start_matches(['*', ' ']))
        }
        Some(_) | None => (None, line),
    }
}

/// Splits a line with one argument, such as `key: …`, `key = …` or `**Key:** …` into its key and the rest.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, rest) = line.split_once([':', '='])?;
    let key = key.trim().trim_matches(['*', '`', '"', '\'', '_']).trim();
    (!key.is_empty()).then_some((key, rest.trim_start_matches(['*', ' '])))
}

fn is_argument_label(key: &str) -> bool {
    let key = key.to_lowercase();
    objects::ARGUMENTS.contains(&key.as_str()) || ARGUMENT_LABELS.contains(&key.as_str())
}

/// Removes the variable of an assignment, so that `result = f(x)` becomes `f(x)`.
fn assigned(text: &str) -> &str {
    let Some((name, value)) = text.split_once('=').filter(|(_, value)| !value.starts_with('=')) else {
        return text;
    };
    let name = name.trim();
    let name = ["let ", "const ", "var "].iter().find_map(|word| name.strip_prefix(word)).unwrap_or(name);
    let is_name = !name.is_empty() && name.chars().all(|each| each.is_alphanumeric() || each == '_');
    if is_name { value.trim() } else { text }
}

fn names_one(tool: &CallableTool<'_>, arguments: &str) -> bool {
    arguments.split_once(['=', ':']).is_some_and(|(key, _)| {
        tool.has_parameter(key.trim_matches(|each: char| !(each.is_alphanumeric() || each == '_')))
    })
}

/// Returns true if an object begins at `beside`, and nothing follows the object on its last line. Also returns true if
/// the object never ends.
fn is_whole_object(beside: &str, below: &[&str]) -> bool {
    let below = below.iter().copied().take(CALL_LINES);
    let text = std::iter::once(beside).chain(below).collect::<Vec<_>>().join("\n");
    let mut depth = 0_usize;
    for (at, each) in text.char_indices() {
        match each {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            let behind = text[at + 1..].lines().next().unwrap_or_default();
            return behind.trim_matches([' ', ';', ',', ')', ']', '.']).is_empty();
        }
    }
    true
}
