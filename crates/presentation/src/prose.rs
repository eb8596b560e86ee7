//! Renders a text that an agent wrote, in a restricted Markdown: headings, paragraphs, lists, tables, emphasis, code,
//! quotes, rules.
//!
//! Links, images and HTML are shown as plain text. For this purpose, placeholders replace `[` and `<` while the text is
//! parsed. All other text is escaped with `plain` and `escape`, and this module closes every element that it opens.
//! Therefore a text cannot influence the rest of the page. Numbers without a known source are marked.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use holdshort_protocol::plain;
use pulldown_cmark::{Alignment, Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::limits::{MARKERS, MARKS, NESTING, PROSE_BYTES, TEXT_BYTES};
use crate::markup::escape;

/// Pairs of a placeholder and the character for which it stands while the text is parsed. The original text cannot
/// contain a placeholder, because `plain` escapes private-use characters.
const STANDS_FOR: [(char, char); 2] = [('\u{e000}', '['), ('\u{e001}', '<')];
/// Level of the heading on the page above the rendered text.
const ABOVE: usize = 2;
const MARK: &str = "<mark class=\"untraced\" title=\"No tool result and no input has this number.\">";

/// Result of looking for a number in the source data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupResult {
    /// The source data do not contain the number.
    Untraced,
    /// The number is in the training data. Contains the index of its row, from zero; the HTML id of the row counts from
    /// `found-1`.
    Found(usize),
}

/// Lookup of the numbers of a text in the source data. Decides which numbers are marked.
pub trait Lookup {
    /// Returns the byte ranges of the numbers in a line that are marked or linked, in ascending order.
    ///
    /// If the line is a table cell, `column` is the header of its column.
    fn marks(&mut self, line: &str, column: Option<&str>) -> Vec<(Range<usize>, LookupResult)>;
}

/// Numbers that were looked up in a rendered text, and whether the text was cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// Number of numbers without a known source, including those that are not marked because of the limit.
    pub untraced: usize,
    /// Number of numbers that were found in the data, including those that are not linked because of the limit.
    pub found: usize,
    /// True if a part of the text was cut.
    pub is_cut: bool,
}

/// Renders a Markdown text below a heading of level 2. If `lookup` is `None`, the numbers are not looked up.
pub fn render<'a>(out: &'a mut String, text: &str, lookup: Option<&'a mut dyn Lookup>) -> Rendered {
    let mut cut = text.len().min(TEXT_BYTES);
    while !text.is_char_boundary(cut) {
        cut -= 1;
    }
    let source = source(&text[..cut]);
    let mut writer = Writer::new(out, lookup);
    writer.rendered.is_cut = cut < text.len();
    for event in Parser::new_ext(&source, Options::ENABLE_TABLES) {
        if writer.is_full() {
            writer.rendered.is_cut = true;
            break;
        }
        writer.event(event);
    }
    writer.finish()
}

/// Prepares the text for the parser: escapes it with `plain`, and replaces `[` and `<`. Lines with too many list or
/// quote markers become plain text.
fn source(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in plain::text(text).split_inclusive('\n') {
        let markers = line
            .chars()
            .take_while(|c| matches!(c, ' ' | '\t' | '>' | '-' | '*' | '+' | '.' | ')' | '0'..='9'));
        if markers.filter(|c| matches!(c, '>' | '-' | '*' | '+' | '.' | ')')).count() > MARKERS
            && !is_rule(line)
        {
            out.push('\\');
        }
        out.extend(
            line.chars().map(|c| STANDS_FOR.iter().find(|(_, of)| *of == c).map_or(c, |(stands, _)| *stands)),
        );
    }
    out
}

/// Returns true for a line that repeats a single `-` or `*`, such as a horizontal rule or the underline of a heading.
fn is_rule(line: &str) -> bool {
    let mut marks = line.trim().bytes().filter(|byte| *byte != b' ');
    let first = marks.next();
    matches!(first, Some(b'-' | b'*')) && marks.all(|byte| Some(byte) == first)
}

fn restore_text(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| STANDS_FOR.iter().find(|(stands, _)| *stands == c).map_or(c, |(_, of)| *of))
        .collect();
    match plain::text(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(plain) => plain,
    }
}

/// Piece of a line: a text, or a tag that begins or ends emphasis.
enum Piece {
    Text(String),
    Tag(&'static str),
}

/// HTML element that was opened and must be closed.
struct Open {
    /// Closing tag. Empty if the element is nested too deep, because it was then not opened.
    end: String,
    is_list: bool,
}

struct Writer<'a> {
    out: &'a mut String,
    start: usize,
    lookup: Option<&'a mut dyn Lookup>,
    open: Vec<Open>,
    /// Pieces of the current line, which is not written yet.
    pieces: Vec<Piece>,
    emphasis: Vec<&'static str>,
    /// Levels of the agent's headings above the current text, the outermost first.
    levels: Vec<HeadingLevel>,
    table: Table,
    rendered: Rendered,
}

#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    headers: Vec<String>,
    is_head: bool,
    column: usize,
}

impl<'a> Writer<'a> {
    fn new(out: &'a mut String, lookup: Option<&'a mut dyn Lookup>) -> Self {
        Self {
            start: out.len(),
            out,
            lookup,
            open: Vec::new(),
            pieces: Vec::new(),
            emphasis: Vec::new(),
            levels: Vec::new(),
            table: Table::default(),
            rendered: Rendered::default(),
        }
    }

    fn is_full(&self) -> bool {
        self.out.len() - self.start > PROSE_BYTES
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            // Only `Text` occurs here. The other events are disabled, or need a `<` or `[`.
            Event::Text(text)
            | Event::Html(text)
            | Event::InlineHtml(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text)
            | Event::FootnoteReference(text) => self.pieces.push(Piece::Text(restore_text(&text))),
            Event::Code(text) => {
                self.pieces.push(Piece::Tag("<code>"));
                self.pieces.push(Piece::Text(restore_text(&text)));
                self.pieces.push(Piece::Tag("</code>"));
            }
            Event::SoftBreak => self.pieces.push(Piece::Text("\n".to_owned())),
            Event::HardBreak => {
                self.pieces.push(Piece::Tag("<br/>"));
                self.pieces.push(Piece::Text("\n".to_owned()));
            }
            Event::Rule => {
                self.line(None);
                self.out.push_str("<hr/>\n");
            }
            Event::TaskListMarker(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Emphasis => return self.emphasise("<em>", "</em>"),
            Tag::Strong => return self.emphasise("<strong>", "</strong>"),
            Tag::Strikethrough | Tag::Superscript | Tag::Subscript | Tag::Link { .. } | Tag::Image { .. } => {
                return self.emphasis.push("");
            }
            _ => self.line(None),
        }
        match tag {
            Tag::Paragraph => self.open("<p>", "</p>\n"),
            Tag::Heading { level, .. } => {
                while self.levels.last().is_some_and(|last| *last >= level) {
                    self.levels.pop();
                }
                self.levels.push(level);
                let level = (ABOVE + self.levels.len()).min(6);
                self.open(&format!("<h{level}>"), &format!("</h{level}>\n"));
            }
            Tag::BlockQuote(_) => self.nest("<blockquote>\n", "</blockquote>\n", false),
            Tag::CodeBlock(_) => self.open("<pre tabindex=\"0\"><code>", "</code></pre>\n"),
            Tag::List(first) => {
                let start = first
                    .filter(|first| *first != 1)
                    .map_or(String::new(), |first| format!(" start=\"{first}\""));
                match first {
                    Some(_) => self.nest(&format!("<ol{start}>\n"), "</ol>\n", true),
                    None => self.nest("<ul>\n", "</ul>\n", true),
                }
            }
            Tag::Item => {
                let is_shown = self.open.last().is_some_and(|list| list.is_list && !list.end.is_empty());
                let (start, end) = if is_shown { ("<li>", "</li>\n") } else { ("", "") };
                self.open(start, end);
            }
            Tag::Table(alignments) => {
                self.table = Table { alignments, ..Table::default() };
                self.open(
                    "<div class=\"scroll\" role=\"region\" aria-label=\"Table\" tabindex=\"0\"><table>\n",
                    "</tbody></table></div>\n",
                );
            }
            Tag::TableHead => {
                self.table.is_head = true;
                self.table.column = 0;
                self.open("<thead><tr>", "</tr></thead>\n<tbody>\n");
            }
            Tag::TableRow => {
                self.table.column = 0;
                self.open("<tr>", "</tr>\n");
            }
            Tag::TableCell => {
                let class = match self.table.alignments.get(self.table.column) {
                    Some(Alignment::Right) => " class=\"r\"",
                    Some(Alignment::Center) => " class=\"c\"",
                    _ => "",
                };
                if self.table.is_head {
                    self.open(&format!("<th scope=\"col\"{class}>"), "</th>");
                } else {
                    self.open(&format!("<td{class}>"), "</td>");
                }
            }
            // The parser does not know these elements, so their content is shown as text.
            Tag::HtmlBlock
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.open("", ""),
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. } => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image => {
                if let Some(end) = self.emphasis.pop() {
                    self.pieces.push(Piece::Tag(end));
                }
                return;
            }
            TagEnd::TableCell => {
                let column = self.table.column;
                self.table.column += 1;
                if self.table.is_head {
                    let header = self.pieces.iter().filter_map(Piece::text).collect();
                    self.table.headers.push(header);
                    self.line(None);
                } else {
                    let header = self.table.headers.get(column).cloned();
                    self.line(header.as_deref());
                }
            }
            TagEnd::TableHead => self.table.is_head = false,
            _ => self.line(None),
        }
        self.close();
    }

    fn emphasise(&mut self, start: &'static str, end: &'static str) {
        let (start, end) = if self.emphasis.len() < NESTING { (start, end) } else { ("", "") };
        self.pieces.push(Piece::Tag(start));
        self.emphasis.push(end);
    }

    fn open(&mut self, start: &str, end: &str) {
        self.out.push_str(start);
        self.open.push(Open { end: end.to_owned(), is_list: false });
    }

    /// Opens an element that may contain other elements. An element that is nested too deep gets no tags.
    fn nest(&mut self, start: &str, end: &str, is_list: bool) {
        let depth = self.open.iter().filter(|open| !open.end.is_empty()).count();
        let (start, end) = if depth < 2 * NESTING { (start, end) } else { ("", "") };
        self.out.push_str(start);
        self.open.push(Open { end: end.to_owned(), is_list });
    }

    fn close(&mut self) {
        if let Some(open) = self.open.pop() {
            self.out.push_str(&open.end);
        }
    }

    /// Writes the current line with its marks. Numbers are looked up in the text without emphasis, because emphasis may
    /// begin or end inside a number.
    fn line(&mut self, column: Option<&str>) {
        let pieces = std::mem::take(&mut self.pieces);
        let seen: String = pieces.iter().filter_map(Piece::text).collect();
        if seen.is_empty() {
            return;
        }
        let mut marks = self.lookup.as_mut().map_or(Vec::new(), |lookup| lookup.marks(&seen, column));
        marks.retain(|(_, look)| {
            let count = match look {
                LookupResult::Untraced => &mut self.rendered.untraced,
                LookupResult::Found(_) => &mut self.rendered.found,
            };
            *count += 1;
            *count <= MARKS
        });
        let mut marks = marks.into_iter().peekable();
        let mut at = 0;
        for piece in &pieces {
            match piece {
                Piece::Tag(tag) => self.out.push_str(tag),
                Piece::Text(text) => {
                    let end = at + text.len();
                    while at < end {
                        while marks.next_if(|(mark, _)| mark.end <= at).is_some() {}
                        let mark = marks.peek();
                        let (to, is_marked) = next_part(mark.map(|(mark, _)| mark), at, end);
                        let look = mark.filter(|_| is_marked).map(|(_, look)| *look);
                        match look {
                            Some(LookupResult::Untraced) => self.out.push_str(MARK),
                            Some(LookupResult::Found(row)) => {
                                let _ = write!(self.out, "<a class=\"found\" href=\"#found-{}\">", row + 1);
                            }
                            None => {}
                        }
                        escape(self.out, &seen[at..to]);
                        self.out.push_str(match look {
                            Some(LookupResult::Untraced) => "</mark>",
                            Some(LookupResult::Found(_)) => "</a>",
                            None => "",
                        });
                        at = to;
                    }
                }
            }
        }
        // A list item that is nested too deep becomes a line. Line breaks separate such lines.
        if self.open.last().is_some_and(|open| open.end.is_empty()) {
            self.out.push_str("<br/>\n");
        }
    }

    fn finish(mut self) -> Rendered {
        while let Some(end) = self.emphasis.pop() {
            self.pieces.push(Piece::Tag(end));
        }
        self.line(None);
        // If a table was cut within its header, its body was never opened.
        if self.table.is_head {
            while self.table.is_head && !self.open.is_empty() {
                self.table.is_head = self.open.last().is_some_and(|open| !open.end.contains("<tbody>"));
                self.close();
            }
        }
        while !self.open.is_empty() {
            self.close();
        }
        self.rendered
    }
}

impl Piece {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Tag(_) => None,
        }
    }
}

/// Splits a piece of text at the next mark. Returns the end of the section that begins at `at`, and true if it is
/// marked.
fn next_part(mark: Option<&Range<usize>>, at: usize, end: usize) -> (usize, bool) {
    match mark {
        Some(mark) if mark.start <= at => (mark.end.min(end), true),
        Some(mark) => (mark.start.min(end), false),
        None => (end, false),
    }
}
