//! From the bytes of an answer to its text: what kind it is, its characters, and of HTML what a reader would see.
//!
//! HTML is read token by token, without a tree: however deep or broken it is, it takes time and memory as its length.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html5gum::{Token, Tokenizer};

use super::body::Body;
use super::quote::Page;

/// What an answer says that it is.
#[derive(Clone, Debug)]
pub(super) struct Media {
    /// `text/html`, in small letters; empty where nothing is said.
    name: String,
    charset: Option<String>,
}

impl Media {
    pub(super) fn of(header: &str) -> Self {
        let mut parts = header.split(';');
        let name = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "/+-._".contains(c);
        let name = if name.chars().all(is_plain) { name } else { String::new() };
        let charset = parts.find_map(|part| {
            let (key, value) = part.split_once('=')?;
            key.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"').to_owned())
        });
        Self { name, charset }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn is_text(&self) -> bool {
        let (kind, of) = self.name.split_once('/').unwrap_or_default();
        kind == "text"
            || (kind == "application"
                && (matches!(of, "json" | "xml" | "xhtml+xml")
                    || of.ends_with("+json")
                    || of.ends_with("+xml")))
    }

    fn is_html(&self) -> bool {
        matches!(self.name.as_str(), "text/html" | "application/xhtml+xml")
    }
}

/// The text; `None` where there is none in the bytes, whatever they are said to be.
pub(super) fn read(body: &Body, media: &Media) -> Option<Page> {
    let text = characters(body, media);
    if text.contains('\0') {
        return None;
    }
    let text = if media.is_html() { visible(&text) } else { text };
    Some(Page { text, is_cut: body.is_cut })
}

/// A mark at the beginning says best which characters they are, then the header, then the document.
fn characters(Body { bytes, is_cut }: &Body, media: &Media) -> String {
    let said = media.charset.as_deref().and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = said.or_else(|| declared(bytes)).unwrap_or_else(|| {
        // A cut may go through a character at the end.
        let is_torn = |error: std::str::Utf8Error| *is_cut && error.error_len().is_none();
        let is_utf8 = std::str::from_utf8(bytes).map_or_else(is_torn, |_| true);
        if is_utf8 { UTF_8 } else { WINDOWS_1252 }
    });
    encoding.decode(bytes).0.into_owned()
}

/// Bytes in which a document names its encoding (HTML, 13.2.3.2).
const DECLARED_WITHIN: usize = 1024;

/// `<meta charset="…">`, `<meta … content="text/html; charset=…">`, `<?xml … encoding="…"?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    ["charset=", "encoding="].into_iter().find_map(|key| {
        let (_, rest) = head.split_once(key)?;
        let label = rest.trim_start().trim_start_matches(['"', '\'']);
        let label = label.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).next()?;
        let found = Encoding::for_label(label.as_bytes())?;
        // It was read as ASCII: it can not be of two bytes a character.
        Some(if found.is_ascii_compatible() { found } else { UTF_8 })
    })
}

/// Elements that nobody sees.
const HIDDEN: [&str; 9] =
    ["script", "style", "template", "noscript", "svg", "math", "iframe", "object", "select"];
/// Elements that stand on lines of their own.
const BLOCKS: [&str; 41] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "br",
    "caption",
    "dd",
    "details",
    "dialog",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "li",
    "main",
    "nav",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "title",
    "tr",
    "ul",
    "textarea",
];

/// What a reader would see, with the addresses of links.
fn visible(html: &str) -> String {
    let mut text = Text::default();
    for token in Tokenizer::new(html) {
        let Ok(token) = token;
        match token {
            Token::StartTag(tag) => {
                let name = String::from_utf8_lossy(&tag.name);
                text.start(&name, tag.self_closing);
                if text.hidden.is_some() {
                    continue;
                }
                let attribute = |key: &str| {
                    let value = tag.attributes.get(key.as_bytes())?;
                    Some(String::from_utf8_lossy(value).trim().to_owned()).filter(|value| !value.is_empty())
                };
                match &*name {
                    "a" => text.link = attribute("href").filter(|href| !href.starts_with('#')),
                    "img" => {
                        if let Some(alt) = attribute("alt") {
                            text.say(&format!("[{alt}]"));
                        }
                    }
                    _ => {}
                }
            }
            Token::EndTag(tag) => text.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(said) => text.say(&String::from_utf8_lossy(&said)),
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
    }
    text.out
}

#[derive(Default)]
struct Text {
    out: String,
    /// The element that hides what is in it, and how many of its name are open.
    hidden: Option<(String, usize)>,
    /// How many `pre` are open: spaces count in them.
    pre: usize,
    link: Option<String>,
    /// A space stands before the next word.
    spaced: bool,
}

impl Text {
    fn start(&mut self, name: &str, is_closed: bool) {
        match &mut self.hidden {
            Some((hidden, open)) => {
                if hidden == name && !is_closed {
                    *open += 1;
                }
                return;
            }
            None if HIDDEN.contains(&name) && !is_closed => {
                self.hidden = Some((name.to_owned(), 1));
                return;
            }
            None => {}
        }
        if BLOCKS.contains(&name) {
            self.line();
        }
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                let depth = usize::from(name.as_bytes()[1] - b'0');
                self.gap();
                self.out.push_str(&"#".repeat(depth));
                self.spaced = true;
            }
            "p" | "table" | "pre" | "blockquote" => self.gap(),
            "li" => {
                self.out.push('-');
                self.spaced = true;
            }
            "td" | "th" => self.cell(),
            _ => {}
        }
        if name == "pre" && !is_closed {
            self.pre += 1;
        }
    }

    fn end(&mut self, name: &str) {
        if let Some((hidden, open)) = &mut self.hidden {
            if hidden == name {
                *open -= 1;
                if *open == 0 {
                    self.hidden = None;
                }
            }
            return;
        }
        match name {
            "a" => {
                if let Some(href) = self.link.take() {
                    self.say(&format!(" <{href}>"));
                }
            }
            "pre" => self.pre = self.pre.saturating_sub(1),
            _ => {}
        }
        if BLOCKS.contains(&name) {
            self.line();
        }
        if matches!(name, "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre" | "title" | "table") {
            self.gap();
        }
    }

    fn say(&mut self, said: &str) {
        if self.hidden.is_some() {
            return;
        }
        if self.pre > 0 {
            self.out.push_str(said);
            return;
        }
        for c in said.chars() {
            if c.is_whitespace() {
                self.spaced = true;
            } else {
                if self.spaced && !self.out.is_empty() && !self.out.ends_with('\n') {
                    self.out.push(' ');
                }
                self.spaced = false;
                self.out.push(c);
            }
        }
    }

    fn cell(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push_str(" |");
            self.spaced = true;
        }
    }

    /// What follows stands on a line of its own.
    fn line(&mut self) {
        self.spaced = false;
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// What follows stands behind an empty line.
    fn gap(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}
