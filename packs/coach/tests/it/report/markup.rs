//! Parses a page as XML: checks that the page is well-formed, and collects its elements.

use std::collections::BTreeSet;

use quick_xml::Reader;
use quick_xml::events::Event;

/// Elements that have no end tag in HTML.
const VOID: [&str; 4] = ["meta", "br", "hr", "path"];
/// HTML elements that end an open paragraph.
const BLOCKS: [&str; 16] = [
    "p",
    "ul",
    "ol",
    "table",
    "div",
    "section",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "pre",
    "blockquote",
    "hr",
    "figure",
];

/// Content of an HTML page of the report.
#[derive(Debug, Default)]
pub(crate) struct Page {
    pub elements: Vec<String>,
    /// Attributes in the HTML page, each written after the name of its element: `a href=#charts`.
    pub attributes: Vec<String>,
    /// Text of the HTML page, without the style sheet.
    pub text: String,
    /// Maximum depth of nested elements in the HTML page.
    pub depth: usize,
}

impl Page {
    pub(crate) fn count(&self, element: &str) -> usize {
        self.elements.iter().filter(|name| *name == element).count()
    }

    pub(crate) fn names(&self) -> BTreeSet<&str> {
        self.elements.iter().map(|name| &**name).collect()
    }
}

/// Parses an HTML page of the report. Fails if an HTML parser would read the page differently from an XML parser.
pub(crate) fn read(html: &str) -> Page {
    let mut page = Page::default();
    let mut open: Vec<String> = Vec::new();
    let mut reader = Reader::from_str(html);
    reader.config_mut().check_end_names = true;
    loop {
        let event =
            reader.read_event().unwrap_or_else(|error| panic!("{error} at {}", reader.error_position()));
        match event {
            Event::Start(tag) => {
                let name = enter(&mut page, &open, &tag);
                assert!(!VOID[..3].contains(&&*name), "<{name}> has no end");
                open.push(name);
                page.depth = page.depth.max(open.len());
            }
            Event::Empty(tag) => {
                let name = enter(&mut page, &open, &tag);
                let in_drawing = open.iter().any(|name| name == "svg");
                assert!(in_drawing || VOID.contains(&&*name), "<{name}/> is open in HTML");
            }
            Event::End(tag) => {
                let name = tag.name().as_ref().to_owned();
                assert_eq!(open.pop(), Some(name));
            }
            Event::Text(text) => {
                if open.last().is_none_or(|name| name != "style") {
                    page.text.push_str(&text);
                }
            }
            Event::GeneralRef(name) => {
                let name: &str = &name;
                let known = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("#39", '\'')];
                page.text.push(known.iter().find(|(known, _)| *known == name).unwrap().1);
            }
            Event::DocType(_) => {}
            Event::Eof => break,
            other => panic!("a page has no {other:?}"),
        }
    }
    assert_eq!(open, Vec::<String>::new());
    page
}

fn enter(page: &mut Page, open: &[String], tag: &quick_xml::events::BytesStart<'_>) -> String {
    let name = tag.name().as_ref().to_owned();
    let in_paragraph = open.iter().any(|name| name == "p");
    assert!(!in_paragraph || !BLOCKS.contains(&&*name), "<{name}> would end the paragraph around it");
    for attribute in tag.attributes() {
        let attribute = attribute.unwrap();
        let (key, value) = (attribute.key.as_ref(), attribute.value.as_ref());
        page.attributes.push(format!("{name} {key}={value}"));
    }
    page.elements.push(name.clone());
    name
}
