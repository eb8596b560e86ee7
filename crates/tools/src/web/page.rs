//! Converts the bytes of a response to text: determines the media type and the character encoding. From HTML, it
//! extracts the text that a reader would see.
//!
//! Reads HTML token by token, without building a tree. Time and memory depend only on the length of the page, even if
//! its elements are deeply nested or malformed.

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};
use html5gum::{Token, Tokenizer};

use super::body::Body;
use super::quote::Page;

#[derive(Clone, Debug)]
pub(super) struct Media {
    /// Name of the media type, such as `text/html`, in lower case. Empty if the response states no media type.
    name: String,
    charset: Option<String>,
}

impl Media {
    pub(super) fn parse(header: &str) -> Self {
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

/// Returns the text of a fetched page. Returns `None` if the bytes are not text, no matter which media type the
/// response states.
pub(super) fn read(body: &Body, media: &Media) -> Option<Page> {
    let text = characters(body, media);
    if text.contains('\0') {
        return None;
    }
    let text = if media.is_html() { visible(&text) } else { text };
    Some(Page { text, is_cut: body.is_cut })
}

/// Decodes the bytes of a fetched page. A byte order mark has precedence over the encoding in the header, and the
/// header over the encoding that the document declares.
fn characters(Body { bytes, is_cut }: &Body, media: &Media) -> String {
    let said = media.charset.as_deref().and_then(|label| Encoding::for_label(label.as_bytes()));
    let encoding = said.or_else(|| declared(bytes)).unwrap_or_else(|| {
        // A cut body may end within a character.
        let is_torn = |error: std::str::Utf8Error| *is_cut && error.error_len().is_none();
        let is_utf8 = std::str::from_utf8(bytes).map_or_else(is_torn, |_| true);
        if is_utf8 { UTF_8 } else { WINDOWS_1252 }
    });
    encoding.decode(bytes).0.into_owned()
}

/// Number of bytes at the beginning of an HTML document in which it must declare its encoding (HTML, 13.2.3.2).
const DECLARED_WITHIN: usize = 1024;

/// Returns the encoding that an HTML or XML document declares: `<meta charset="…">`, `<meta … content="text/html;
/// charset=…">` or `<?xml … encoding="…"?>`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARED_WITHIN)]).to_ascii_lowercase();
    ["charset=", "encoding="].into_iter().find_map(|key| {
        let (_, rest) = head.split_once(key)?;
        let label = rest.trim_start().trim_start_matches(['"', '\'']);
        let label = label.split(|c: char| !(c.is_ascii_alphanumeric() || "-_:.".contains(c))).next()?;
        let found = Encoding::for_label(label.as_bytes())?;
        // The declaration was readable as ASCII, so a declared encoding that is not compatible with ASCII must be
        // wrong.
        Some(if found.is_ascii_compatible() { found } else { UTF_8 })
    })
}

/// HTML elements whose content is not visible to a reader.
const HIDDEN: [&str; 9] =
    ["script", "style", "template", "noscript", "svg", "math", "iframe", "object", "select"];
/// HTML elements that start on a new line.
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

/// Returns the text of an HTML page that a reader would see, with the URLs of links.
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
    /// Name of the open HTML element whose content is hidden, and the number of open elements of the same name inside
    /// it.
    hidden: Option<(String, usize)>,
    /// Number of open HTML `pre` elements, in which spaces are kept.
    pre: usize,
    link: Option<String>,
    /// True if a space precedes the next word of the page.
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

    fn line(&mut self) {
        self.spaced = false;
        if !self.out.is_empty() && !self.out.ends_with('\n') {
            self.out.push('\n');
        }
    }

    /// Starts a new line of the page's text after an empty line.
    fn gap(&mut self) {
        self.line();
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }
}
