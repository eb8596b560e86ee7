//! Where in an interrupt something can stand that its agent wrote, and how it is read there.
//!
//! Bounded in depth, number and bytes. A text of printable ASCII costs one look and is left behind.

use serde_json::Value;

use crate::interrupt::Interrupt;
use crate::plain;
use crate::warning::link;

/// Values of a payload that are visited.
const VALUES: usize = 50_000;
const DEPTH: usize = 64;
/// Bytes of text that is more than printable ASCII.
const BYTES: usize = 256 * 1024;

/// Names of what is taken letter by letter, wherever it stands.
const EXACT: [&str; 9] = ["agent", "command", "cwd", "host", "path", "program", "tool", "url", "workspace"];
/// Names of what runs or changes: shown as it is, never as Markdown.
const DATA: [&str; 3] = ["arguments", "diff", "impact"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// Running text, which may be shown as Markdown.
    Prose,
    /// Text that is shown as it is.
    Data,
    /// A command, a path, a name: each letter counts.
    Exact,
}

/// A text that needs a closer look.
#[derive(Debug)]
pub(super) struct Place<'a> {
    pub at: String,
    pub text: &'a str,
    pub reading: Reading,
}

impl Place<'_> {
    /// Where something stands that is not seen as it is; in a command that is also a space that is none.
    pub(super) fn hidden(&self) -> Option<usize> {
        let hidden = plain::hidden(self.text);
        match self.reading {
            Reading::Prose | Reading::Data => hidden,
            Reading::Exact => hidden.or_else(|| self.text.find(|c: char| c.is_whitespace() && !c.is_ascii())),
        }
    }
}

/// Those places, and whether they are all.
pub(super) fn of(interrupt: &Interrupt) -> (Vec<Place<'_>>, bool) {
    let mut walk =
        Walk { path: vec!["payload".to_owned()], found: Vec::new(), values: 0, bytes: 0, is_all: true };
    walk.value(&interrupt.payload, Reading::Prose);
    walk.text_at("title", &interrupt.title, Reading::Data);
    walk.text_at("message", &interrupt.message, Reading::Prose);
    walk.text_at("agent", interrupt.agent.as_deref().unwrap_or_default(), Reading::Exact);
    for (i, option) in interrupt.options.iter().enumerate() {
        walk.text_at(&format!("options/{i}/label"), &option.label, Reading::Data);
        walk.text_at(&format!("options/{i}/id"), &option.id, Reading::Exact);
    }
    (walk.found, walk.is_all)
}

struct Walk<'a> {
    path: Vec<String>,
    found: Vec<Place<'a>>,
    values: usize,
    bytes: usize,
    is_all: bool,
}

impl<'a> Walk<'a> {
    fn value(&mut self, value: &'a Value, reading: Reading) {
        self.values += 1;
        if self.values > VALUES || self.path.len() > DEPTH {
            self.is_all = false;
            return;
        }
        match value {
            Value::String(text) => self.text(text, reading),
            Value::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.path.push(i.to_string());
                    self.value(item, reading);
                    self.path.pop();
                }
            }
            Value::Object(fields) => {
                for (name, field) in fields {
                    self.path.push(name.replace('~', "~0").replace('/', "~1"));
                    self.text(name, Reading::Data);
                    self.value(field, below(reading, name));
                    self.path.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text_at(&mut self, path: &str, text: &'a str, reading: Reading) {
        self.path = vec![path.to_owned()];
        self.text(text, reading);
    }

    fn text(&mut self, text: &'a str, reading: Reading) {
        let is_bare = plain::is_bare(text) && !(reading == Reading::Prose && link::may_be_in(text));
        if is_bare {
            return;
        }
        self.bytes += text.len();
        if self.bytes > BYTES {
            self.is_all = false;
            return;
        }
        self.found.push(Place { at: format!("/{}", self.path.join("/")), text, reading });
    }
}

/// How the field of this name is read in what is read so.
fn below(reading: Reading, name: &str) -> Reading {
    match reading {
        Reading::Exact => Reading::Exact,
        Reading::Prose | Reading::Data if EXACT.contains(&name) => Reading::Exact,
        Reading::Prose if DATA.contains(&name) => Reading::Data,
        Reading::Prose | Reading::Data => reading,
    }
}
