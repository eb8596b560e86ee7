//! Text fields of an interrupt that an agent wrote, and the way in which each field is displayed.
//!
//! Limits apply to the nesting depth, the number of values and the number of bytes that are examined. If a text is
//! printable ASCII, it is only scanned once.

use serde_json::Value;

use crate::interrupt::Interrupt;
use crate::plain;
use crate::warning::link;

/// Maximum number of values of an interrupt's payload that are examined for deception.
const VALUES: usize = 50_000;
const DEPTH: usize = 64;
/// Maximum number of bytes of an interrupt's text that are examined for deception. Printable ASCII text does not count
/// towards the limit.
const BYTES: usize = 256 * 1024;

/// Names of the payload's fields that contain exact values, such as commands and paths. Fields with these names are
/// found at any depth.
const EXACT: [&str; 9] = ["agent", "command", "cwd", "host", "path", "program", "tool", "url", "workspace"];
/// Names of the payload's fields that contain code or changes. Such fields are displayed unchanged, never as Markdown.
const DATA: [&str; 3] = ["arguments", "diff", "impact"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Prose of an interrupt that may be displayed as Markdown.
    Prose,
    /// Text of an interrupt that is displayed unchanged.
    Data,
    /// A command, a path or a name in an interrupt. Every letter of such a text matters.
    Exact,
}

/// Text of an interrupt that is examined for deception.
#[derive(Debug)]
pub(super) struct Field<'a> {
    pub at: String,
    pub text: &'a str,
    pub reading: Reading,
}

impl Field<'_> {
    /// Returns the byte offset of the first character of an interrupt's text that is displayed in another form than its
    /// own. In an exact value, this also applies to every space but the ASCII space.
    pub(super) fn hidden(&self) -> Option<usize> {
        let hidden = plain::hidden(self.text);
        match self.reading {
            Reading::Prose | Reading::Data => hidden,
            Reading::Exact => hidden.or_else(|| self.text.find(|c: char| c.is_whitespace() && !c.is_ascii())),
        }
    }
}

/// Returns the texts of an interrupt to examine for deception. The flag is true if they are complete, and false if a
/// limit excluded some.
pub(super) fn collect_fields(interrupt: &Interrupt) -> (Vec<Field<'_>>, bool) {
    let mut walk = Walk::default();
    walk.path.push(Step::Name("payload"));
    walk.value(&interrupt.payload, Reading::Prose);
    walk.text_at([Step::Name("title")], &interrupt.title, Reading::Data);
    walk.text_at([Step::Name("message")], &interrupt.message, Reading::Prose);
    let agent = interrupt.agent.as_deref().unwrap_or_default();
    walk.text_at([Step::Name("agent")], agent, Reading::Exact);
    for (i, option) in interrupt.options.iter().enumerate() {
        let part = |name| [Step::Name("options"), Step::Index(i), Step::Name(name)];
        walk.text_at(part("label"), &option.label, Reading::Data);
        walk.text_at(part("id"), &option.id, Reading::Exact);
    }
    (walk.found, !walk.is_cut)
}

/// Step of a JSON pointer to a value of the payload. The pointer is converted to text only for a text to examine,
/// because most texts need none.
enum Step<'a> {
    Name(&'a str),
    Index(usize),
}

#[derive(Default)]
struct Walk<'a> {
    path: Vec<Step<'a>>,
    found: Vec<Field<'a>>,
    values: usize,
    bytes: usize,
    /// True if a limit prevented the examination of one of the interrupt's texts.
    is_cut: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &'a Value, reading: Reading) {
        self.values += 1;
        if self.values > VALUES || self.path.len() > DEPTH {
            self.is_cut = true;
            return;
        }
        match value {
            Value::String(text) => self.text(text, reading),
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.path.push(Step::Index(i));
                    self.value(item, reading);
                    self.path.pop();
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.path.push(Step::Name(name));
                    self.text(name, Reading::Data);
                    self.value(field, below(reading, name));
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text_at<const N: usize>(&mut self, path: [Step<'a>; N], text: &'a str, reading: Reading) {
        self.path.clear();
        self.path.extend(path);
        self.text(text, reading);
    }

    fn text(&mut self, text: &'a str, reading: Reading) {
        let is_bare = plain::is_bare(text) && !(reading == Reading::Prose && link::may_be_in(text));
        if is_bare {
            return;
        }
        self.bytes += text.len();
        if self.bytes > BYTES {
            self.is_cut = true;
            return;
        }
        self.found.push(Field { at: self.path.iter().map(Step::written).collect(), text, reading });
    }
}

impl Step<'_> {
    /// Returns the step of a JSON pointer as text: a slash and the escaped name (RFC 6901).
    fn written(&self) -> String {
        match self {
            Self::Name(name) => format!("/{}", crate::pointer::escape(name)),
            Self::Index(i) => format!("/{i}"),
        }
    }
}

/// Returns the way in which the field `name` of an interrupt is displayed. `reading` applies to the field that contains
/// this field.
fn below(reading: Reading, name: &str) -> Reading {
    match reading {
        Reading::Exact => Reading::Exact,
        Reading::Prose | Reading::Data if EXACT.contains(&name) => Reading::Exact,
        Reading::Prose if DATA.contains(&name) => Reading::Data,
        Reading::Prose | Reading::Data => reading,
    }
}
