//! Edits JSON settings in place: only inserts texts, or removes what was inserted. Everything else keeps its bytes.
//!
//! Reads exactly what the coding agent reads: if the agent rejects a file, the file is refused here as well, because the
//! agent would then run without its hooks.

use jsonc_parser::ast::{Array, Object, Value as Node};
use jsonc_parser::common::{Range, Ranged};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde_json::ser::{PrettyFormatter, Serializer};
use serde_json::{Map, Number, Value};

use super::types::{Added, FoundHook, Step};

/// Object of the settings that contains the lists of hooks.
const HOOKS: &str = "hooks";
const BYTE_ORDER_MARK: char = '\u{feff}';
const DEFAULT_INDENT: &str = "  ";

/// Form of the settings of a coding agent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syntax {
    pub has_comments: bool,
    /// True if the list of an event contains groups with a matcher and a list `hooks`. Otherwise it contains hooks.
    pub has_groups: bool,
    /// Members of `hooks` that are no events.
    pub switches: &'static [&'static str],
}

/// Hook of one event: the value to insert into the list of the event.
#[derive(Clone, Debug)]
pub(super) struct NewHook {
    pub event: &'static str,
    pub value: Value,
}

/// Parses the settings. An empty file is an empty object.
fn parse(text: &str, syntax: Syntax) -> Result<Option<Node<'_>>, String> {
    let options = ParseOptions {
        allow_comments: syntax.has_comments,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options)
        .map_err(|error| format!("is not valid JSON: {error}"))?;
    Ok(parsed.value)
}

/// Returns the root object without an optional byte order mark. `None` if the file is empty.
fn root(text: &str, syntax: Syntax) -> Result<Option<Object<'_>>, String> {
    match parse(text, syntax)? {
        None => Ok(None),
        Some(Node::Object(object)) => Ok(Some(object)),
        Some(_) => Err("does not contain an object".to_owned()),
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Reads the settings as a value. Refuses a key that occurs twice in an object, because programs differ in which of the
/// two they use.
pub(super) fn read(text: &str, syntax: Syntax) -> Result<Map<String, Value>, String> {
    match root(without_mark(text), syntax)? {
        None => Ok(Map::new()),
        Some(object) => object_value(&object, ""),
    }
}

fn object_value(object: &Object<'_>, place: &str) -> Result<Map<String, Value>, String> {
    let mut map = Map::new();
    for property in &object.properties {
        let name = property.name.as_str();
        let place = if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        if map.insert(name.to_owned(), value(&property.value, &place)?).is_some() {
            return Err(format!("contains `{place}` twice: remove one of the two"));
        }
    }
    Ok(map)
}

fn value(node: &Node<'_>, place: &str) -> Result<Value, String> {
    Ok(match node {
        Node::StringLit(text) => Value::String(text.value.to_string()),
        Node::NumberLit(number) => {
            let parsed: Result<Number, _> = serde_json::from_str(number.value);
            Value::Number(parsed.map_err(|_| format!("contains a number that is not JSON: `{place}`"))?)
        }
        Node::BooleanLit(boolean) => Value::Bool(boolean.value),
        Node::NullKeyword(_) => Value::Null,
        Node::Object(object) => Value::Object(object_value(object, place)?),
        Node::Array(array) => {
            let items = array.elements.iter().enumerate();
            let values = items.map(|(index, item)| value(item, &format!("{place}[{index}]")));
            Value::Array(values.collect::<Result<_, _>>()?)
        }
    })
}

/// Lists the hooks of the settings, and refuses a shape that would make the agent ignore the whole file. `exact` are the
/// values that this program writes.
pub(super) fn hooks(
    settings: &Map<String, Value>,
    syntax: Syntax,
    exact: &[NewHook],
) -> Result<Vec<FoundHook>, String> {
    let mut found = Vec::new();
    let events = match settings.get(HOOKS) {
        None => return Ok(found),
        Some(Value::Object(events)) => events,
        Some(_) => return Err("contains `hooks` that is not an object".to_owned()),
    };
    for (event, list) in events.iter().filter(|(event, _)| !syntax.switches.contains(&event.as_str())) {
        let Value::Array(items) = list else {
            return Err(format!("contains `hooks.{event}` that is not a list"));
        };
        let is_exact = |item: &Value| exact.iter().any(|new| new.event == event && new.value == *item);
        for (group, item) in items.iter().enumerate() {
            let place = format!("hooks.{event}[{group}]");
            if !syntax.has_groups {
                let shown = shown(item, &place)?;
                let (event, is_exact) = (event.clone(), is_exact(item));
                found.push(FoundHook { event, shown, is_exact, position: (group, 0) });
                continue;
            }
            if !matches!(item.get("matcher"), None | Some(Value::String(_))) {
                return Err(format!("contains `{place}.matcher` that is not a text"));
            }
            let Some(Value::Array(hooks)) = item.get(HOOKS) else {
                return Err(format!("contains `{place}` without a list `hooks`"));
            };
            for (index, hook) in hooks.iter().enumerate() {
                let shown = shown(hook, &format!("{place}.hooks[{index}]"))?;
                let (event, is_exact) = (event.clone(), is_exact(item));
                found.push(FoundHook { event, shown, is_exact, position: (group, index) });
            }
        }
    }
    Ok(found)
}

/// Returns the text with which a person recognises a hook.
fn shown(hook: &Value, place: &str) -> Result<String, String> {
    let Value::Object(hook) = hook else { return Err(format!("contains `{place}` that is not an object")) };
    let text = |key: &str| hook.get(key).and_then(Value::as_str);
    let first = ["command", "url", "tool", "prompt"].into_iter().find_map(text);
    Ok(first.or_else(|| text("type")).unwrap_or("a hook without a command").to_owned())
}

/// Adds hooks to the lists of their events. `also` are members that the root object needs.
pub(super) fn add(
    text: &str,
    syntax: Syntax,
    new: &[NewHook],
    also: &[(&'static str, Value)],
) -> Result<Added, String> {
    // Refuses what the agent would reject, before anything is changed.
    hooks(&read(text, syntax)?, syntax, &[])?;
    let mut editor = Editor { added: Added { text: text.to_owned(), ..Added::default() }, syntax };
    editor.ensure_root()?;
    for (key, value) in also {
        editor.ensure_member(key, value)?;
    }
    for hook in new {
        editor.add(hook)?;
    }
    Ok(editor.added)
}

struct Editor {
    added: Added,
    syntax: Syntax,
}

/// Object or list into which something is inserted.
struct Container {
    range: Range,
    items: Vec<Range>,
}

impl Container {
    fn of_object(object: &Object<'_>) -> Self {
        Self { range: object.range(), items: object.properties.iter().map(Ranged::range).collect() }
    }

    fn of_array(array: &Array<'_>) -> Self {
        Self { range: array.range(), items: array.elements.iter().map(Ranged::range).collect() }
    }
}

impl Editor {
    /// Returns the settings without the byte order mark.
    fn text(&self) -> &str {
        without_mark(&self.added.text)
    }

    fn root(&self) -> Result<Object<'_>, String> {
        root(self.text(), self.syntax)?.ok_or_else(|| "does not contain an object".to_owned())
    }

    fn ensure_root(&mut self) -> Result<(), String> {
        if root(self.text(), self.syntax)?.is_some() {
            return Ok(());
        }
        // After comments, and before the last line break.
        let text = self.text();
        let end = text.trim_end().len();
        let newline = if text[end..].contains('\n') { "" } else { "\n" };
        let start = if end == 0 { "" } else { "\n" };
        let inserted = format!("{start}{{}}{newline}");
        self.insert(&[(end, inserted)]);
        Ok(())
    }

    fn ensure_member(&mut self, key: &str, value: &Value) -> Result<(), String> {
        let root = self.root()?;
        if root.properties.iter().any(|property| property.name.as_str() == key) {
            return Ok(());
        }
        let inserts = self.append(&Container::of_object(&root), &Rendered::Member(key, value));
        self.insert(&inserts);
        self.added.created.push(key.to_owned());
        Ok(())
    }

    fn add(&mut self, hook: &NewHook) -> Result<(), String> {
        let root = self.root()?;
        let list = Value::Array(vec![hook.value.clone()]);
        let Some(Node::Object(hooks)) = member(&root, HOOKS) else {
            let all = Value::Object(Map::from_iter([(hook.event.to_owned(), list)]));
            let inserts = self.append(&Container::of_object(&root), &Rendered::Member(HOOKS, &all));
            self.insert(&inserts);
            self.added.created.extend([HOOKS.to_owned(), format!("{HOOKS}/{}", hook.event)]);
            return Ok(());
        };
        let list_of_event = member(hooks, hook.event);
        let is_new = list_of_event.is_none();
        let inserts = if let Some(Node::Array(array)) = list_of_event {
            self.append(&Container::of_array(array), &Rendered::Item(&hook.value))
        } else {
            self.append(&Container::of_object(hooks), &Rendered::Member(hook.event, &list))
        };
        self.insert(&inserts);
        self.added.created.extend(is_new.then(|| format!("{HOOKS}/{}", hook.event)));
        Ok(())
    }

    /// Returns the texts that add an item at the end of a container, in the style of the file.
    fn append(&self, into: &Container, item: &Rendered<'_>) -> Vec<(usize, String)> {
        let text = self.text();
        let style = Style::of_text(text, self.root().ok().as_ref());
        let Some((first, last)) = into.items.first().zip(into.items.last()) else {
            let inside = &text[into.range.start + 1..into.range.end - 1];
            let at = into.range.start + 1 + inside.trim_end().len();
            let base = line_indent(text, into.range.start);
            let indent = format!("{base}{}", style.unit);
            let newline = style.newline;
            let end = if inside[inside.trim_end().len()..].contains('\n') {
                String::new()
            } else {
                format!("{newline}{base}")
            };
            return vec![(at, format!("{newline}{indent}{}{end}", item.pretty(&style, &indent)))];
        };
        if !text[into.range.start..first.start].contains('\n') {
            return vec![(last.end, format!(", {}", item.compact()))];
        }
        let indent = line_indent(text, first.start);
        let rest = after_comment(text, last.end);
        let line = format!("{}{indent}{}", style.newline, item.pretty(&style, indent));
        if rest == last.end {
            vec![(rest, format!(",{line}"))]
        } else {
            vec![(last.end, ",".to_owned()), (rest, line)]
        }
    }

    /// Inserts texts at positions of the text before the step, in ascending order.
    fn insert(&mut self, inserts: &[(usize, String)]) {
        let mark = self.added.text.len() - self.text().len();
        let mut step = Step::new();
        let mut shift = mark;
        for (at, inserted) in inserts {
            let start = at + shift;
            self.added.text.insert_str(start, inserted);
            step.push((start, inserted.len()));
            shift += inserted.len();
        }
        self.added.steps.push(step);
    }
}

fn member<'a, 'b>(object: &'b Object<'a>, name: &str) -> Option<&'b Node<'a>> {
    object.properties.iter().find(|each| each.name.as_str() == name).map(|each| &each.value)
}

/// Member of an object, or item of a list, to insert.
enum Rendered<'a> {
    Member(&'a str, &'a Value),
    Item(&'a Value),
}

impl Rendered<'_> {
    fn pretty(&self, style: &Style<'_>, indent: &str) -> String {
        let (name, value) = self.parts();
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(style.unit.as_bytes());
        // Writing a JSON value into memory cannot fail.
        let _ = value.serialize(&mut Serializer::with_formatter(&mut bytes, formatter));
        let text = String::from_utf8_lossy(&bytes);
        format!("{name}{}", text.replace('\n', &format!("{}{indent}", style.newline)))
    }

    fn compact(&self) -> String {
        let (name, value) = self.parts();
        format!("{name}{value}")
    }

    fn parts(&self) -> (String, &Value) {
        match self {
            Self::Member(name, value) => (format!("{}: ", Value::from(*name)), value),
            Self::Item(value) => (String::new(), value),
        }
    }
}

/// Line breaks and indentation of a file.
struct Style<'a> {
    newline: &'static str,
    unit: &'a str,
}

impl<'a> Style<'a> {
    fn of_text(text: &'a str, root: Option<&Object<'_>>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = root.and_then(|root| root.properties.first()).map(Ranged::range);
        let unit = first.map_or("", |first| line_indent(text, first.start));
        Self { newline, unit: if unit.is_empty() { DEFAULT_INDENT } else { unit } }
    }
}

/// Returns the white space at the start of the line that contains this position.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |found| found + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Returns the end of a comment that follows on the same line, such as `// why`. Without one, returns `at`.
fn after_comment(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let space = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    let comment = &rest[space..];
    let length = if comment.starts_with("//") {
        comment.find(['\n', '\r']).unwrap_or(comment.len())
    } else if comment.starts_with("/*") {
        // A comment over several lines belongs to what follows it.
        match comment.find("*/") {
            Some(end) if !comment[..end].contains('\n') => end + 2,
            _ => return at,
        }
    } else {
        return at;
    };
    at + space + length
}

/// Removes the hooks whose command line is ours.
pub(super) fn remove(
    original: &str,
    syntax: Syntax,
    is_ours: &dyn Fn(&str) -> bool,
    created: &[String],
) -> Result<String, String> {
    let mut text = original.to_owned();
    loop {
        let (range, mark) = {
            let body = without_mark(&text);
            let Some(root) = root(body, syntax)? else { return Ok(text) };
            (removable(body, &root, syntax, is_ours, created), text.len() - body.len())
        };
        // Each round removes one item, because a removal moves all later positions.
        let Some(ranges) = range else { break };
        for range in ranges.iter().rev() {
            text.replace_range(range.start + mark..range.end + mark, "");
        }
    }
    let (mut old, mut new) = (read(original, syntax)?, read(&text, syntax)?);
    old.remove(HOOKS);
    new.remove(HOOKS);
    if old == new { Ok(text) } else { Err("cannot be edited without a change of other settings".to_owned()) }
}

/// Returns the parts of the text to delete for the next item that is ours.
fn removable(
    text: &str,
    root: &Object<'_>,
    syntax: Syntax,
    is_ours: &dyn Fn(&str) -> bool,
    created: &[String],
) -> Option<Vec<Range>> {
    let is_our_hook = |node: &Node<'_>| match node {
        Node::Object(hook) => match member(hook, "command") {
            Some(Node::StringLit(command)) => is_ours(&command.value),
            _ => false,
        },
        _ => false,
    };
    let Some(Node::Object(hooks)) = member(root, HOOKS) else { return None };
    for (position, property) in hooks.properties.iter().enumerate() {
        let Node::Array(list) = &property.value else { continue };
        for (index, item) in list.elements.iter().enumerate() {
            if !syntax.has_groups {
                if is_our_hook(item) {
                    return Some(cut(text, &Container::of_array(list), index));
                }
                continue;
            }
            let Node::Object(group) = item else { continue };
            let Some(Node::Array(group_hooks)) = member(group, HOOKS) else { continue };
            let Some(found) = group_hooks.elements.iter().position(is_our_hook) else { continue };
            // A group that also contains another hook stays.
            return Some(match group_hooks.elements.len() {
                1 => cut(text, &Container::of_array(list), index),
                _ => cut(text, &Container::of_array(group_hooks), found),
            });
        }
        let is_created =
            created.iter().any(|each| each.strip_prefix("hooks/") == Some(property.name.as_str()));
        if list.elements.is_empty() && is_created {
            return Some(cut(text, &Container::of_object(hooks), position));
        }
    }
    let is_created = |name: &str| created.iter().any(|each| each == name);
    if hooks.properties.is_empty() && is_created(HOOKS) {
        let position = root.properties.iter().position(|each| each.name.as_str() == HOOKS)?;
        return Some(cut(text, &Container::of_object(root), position));
    }
    None
}

/// Returns the parts to delete with one item of a container: the item, its line, and one comma.
fn cut(text: &str, container: &Container, index: usize) -> Vec<Range> {
    let item = container.items[index];
    let before = text[..item.start].trim_end().len();
    let rest = text[item.end..].trim_start_matches([' ', '\t', ',']);
    // A comment before the item ends with its line break: what follows the item must not move into the comment.
    let ends_line = rest.is_empty() || rest.starts_with(['\n', '\r']);
    let start = if text[before..item.start].contains('\n') && !ends_line { item.start } else { before };
    let mut ranges = Vec::new();
    if let Some(next) = container.items.get(index + 1) {
        ranges.push(Range::new(start, item.end));
        ranges.extend(comma(text, item.end, next.start));
    } else {
        if index > 0 {
            ranges.extend(comma(text, container.items[index - 1].end, item.start));
        }
        // The comma may be the last character before the white space.
        let start = start.max(ranges.last().map_or(0, |comma| comma.end));
        ranges.push(Range::new(start, item.end));
    }
    ranges
}

/// Returns the comma between two items, outside of comments.
fn comma(text: &str, from: usize, to: usize) -> Option<Range> {
    let mut at = from;
    while at < to {
        let rest = &text[at..to];
        let skip = match rest.as_bytes() {
            [b',', ..] => return Some(Range::new(at, at + 1)),
            [b'/', b'/', ..] => rest.find('\n')?,
            [b'/', b'*', ..] => rest.find("*/")? + 2,
            _ => rest.chars().next()?.len_utf8(),
        };
        at += skip;
    }
    None
}
