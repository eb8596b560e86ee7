//! Walks an XML document of any format. Passes the local name, the text and the line of each element to a visitor.
//!
//! Entities that a document itself defines are errors, and are never replaced by their text.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::draft::Moment;
use super::{Context, Refused};
use crate::training::limits;
use crate::training::model::FileLocation;
use crate::training::problem::Code;

/// Local names of the open XML elements, beginning with the root.
pub(super) type Path = [String];

/// Receiver of the elements of an XML document. `open` returns an error to refuse a file that exceeds a limit.
pub(super) trait Visitor {
    /// Handles the beginning of an XML element.
    fn open(&mut self, element: &Element<'_>, context: &mut Context<'_>) -> Result<(), Refused>;
    /// Handles the end of an XML element. `text` lacks the text of the elements inside it.
    fn close(&mut self, element: &Element<'_>, text: &str, context: &mut Context<'_>);
}

/// An XML element, which is passed at its beginning and at its end.
pub(super) struct Element<'a> {
    pub(super) path: &'a Path,
    /// Local names of the element's attributes, with their values. Empty at the end of an element.
    attributes: Vec<(String, String)>,
    pub(super) line: u64,
}

impl Element<'_> {
    pub(super) fn within(&self) -> Vec<&str> {
        self.path.iter().map(|name| &**name).collect()
    }

    pub(super) fn location(&self) -> FileLocation {
        FileLocation::Line(self.line)
    }

    pub(super) fn attribute(&self, wanted: &str) -> Option<&str> {
        self.attributes.iter().find(|(name, _)| name == wanted).map(|(_, value)| &**value)
    }

    /// Parses a number in an XML element. Returns `None` for an empty text. An invalid number is reported and left out.
    pub(super) fn number(&self, name: &str, text: &str, context: &mut Context<'_>) -> Option<f64> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
        if number.is_none() && !text.is_empty() {
            context.warn(Code::BadNumber, self.location(), format!("`{text}` as {name}"));
        }
        number
    }

    /// Parses a time in an XML element. A time without an offset is the athlete's local time. Returns `None` for an
    /// empty text. An invalid time is reported and left out.
    pub(super) fn time(&self, text: &str, context: &mut Context<'_>) -> Option<Moment> {
        let time = Moment::parse(text, context.zone());
        if time.is_none() && !text.is_empty() {
            context.warn(Code::BadDate, self.location(), format!("`{text}` is not a time"));
        }
        time
    }
}

struct Walk<'a> {
    text: &'a str,
    /// Number of bytes of the XML document whose line breaks are counted, and the number of lines in these bytes.
    counted: (usize, u64),
    path: Vec<String>,
    texts: Vec<String>,
}

impl Walk<'_> {
    fn line(&mut self, position: u64) -> u64 {
        let (from, lines) = self.counted;
        let to = usize::try_from(position).unwrap_or(usize::MAX).clamp(from, self.text.len());
        let more = self.text.get(from..to).map_or(0, |text| text.matches('\n').count()) as u64;
        self.counted = (to, lines + more);
        lines + more + 1
    }

    fn open(
        &mut self,
        start: &BytesStart<'_>,
        line: u64,
        visitor: &mut impl Visitor,
        context: &mut Context<'_>,
    ) -> Result<(), Refused> {
        let attributes = attributes(start)
            .map_err(|error| context.refuse(Code::XmlSyntax, FileLocation::Line(line), error))?;
        self.path.push(start.local_name().as_ref().to_owned());
        self.texts.push(String::new());
        visitor.open(&Element { path: &self.path, attributes, line }, context)
    }

    fn close(&mut self, line: u64, visitor: &mut impl Visitor, context: &mut Context<'_>) {
        let text = self.texts.pop().unwrap_or_default();
        let element = Element { path: &self.path, attributes: Vec::new(), line };
        visitor.close(&element, text.trim(), context);
        self.path.pop();
    }

    /// Appends text to the innermost XML element. A mark replaces text beyond the limit, so that a cut number is not
    /// read as a number.
    fn append_text(&mut self, text: &str) {
        let Some(last) = self.texts.last_mut() else { return };
        if last.len() + text.len() <= limits::CELL_CHARS {
            last.push_str(text);
        } else if !last.ends_with(CUT) {
            last.push(CUT);
        }
    }
}

/// Mark that is inserted where text of an XML element was removed.
const CUT: char = '…';

fn attributes(start: &BytesStart<'_>) -> Result<Vec<(String, String)>, String> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let name = attribute.key.local_name().as_ref().to_owned();
        let value = attribute
            .normalized_value(quick_xml::XmlVersion::Implicit1_0)
            .map_err(|error| error.to_string())?;
        attributes.push((name, value.into_owned()));
    }
    Ok(attributes)
}

/// Passes the elements of an XML document to a visitor. If the document is cut off, passes the elements before its end
/// and reports a problem.
pub(super) fn walk(text: &str, context: &mut Context<'_>, visitor: &mut impl Visitor) -> Result<(), Refused> {
    let mut reader = Reader::from_str(text);
    let mut walk = Walk { text, counted: (0, 0), path: Vec::new(), texts: Vec::new() };
    let mut elements = 0_u64;
    loop {
        let event = reader.read_event();
        let line = walk.line(reader.buffer_position());
        let outcome = match event {
            // The document ends within a tag, a comment or a similar construct.
            Err(quick_xml::Error::Syntax(_))
                if reader.buffer_position() >= text.len() as u64 && elements > 0 =>
            {
                break;
            }
            Err(error) => Err(error.to_string()),
            Ok(Event::Eof) => break,
            Ok(Event::Start(start)) if walk.path.len() >= limits::NESTING => {
                let name = start.local_name().as_ref().to_owned();
                let message = format!("`{name}` is nested in more than {} elements", limits::NESTING);
                return Err(context.refuse(Code::TooNested, FileLocation::Line(line), message));
            }
            Ok(Event::Start(start)) => {
                elements += 1;
                walk.open(&start, line, visitor, context)?;
                Ok(())
            }
            Ok(Event::Empty(start)) => {
                elements += 1;
                walk.open(&start, line, visitor, context)?;
                walk.close(line, visitor, context);
                Ok(())
            }
            Ok(Event::End(_)) => {
                walk.close(line, visitor, context);
                Ok(())
            }
            Ok(Event::Text(said)) => {
                walk.append_text(&said.xml10_content());
                Ok(())
            }
            Ok(Event::CData(said)) => {
                walk.append_text(&said.xml10_content());
                Ok(())
            }
            Ok(Event::GeneralRef(reference)) => entity(&reference).map(|text| walk.append_text(&text)),
            Ok(Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_)) => Ok(()),
        };
        outcome.map_err(|error| context.refuse(Code::XmlSyntax, FileLocation::Line(line), error))?;
    }
    if elements == 0 {
        return Err(context.refuse(Code::XmlSyntax, FileLocation::File, "the file has no XML element"));
    }
    if let Some(open) = walk.path.last() {
        let message = format!("the file ends within `{open}`");
        let line = walk.line(text.len() as u64);
        context.warn(Code::XmlTruncated, FileLocation::Line(line), message);
    }
    Ok(())
}

/// Returns the text of an XML character reference, or of one of the five entities that XML predefines.
fn entity(reference: &quick_xml::events::BytesRef<'_>) -> Result<String, String> {
    if let Some(character) = reference.resolve_char_ref().map_err(|error| error.to_string())? {
        return Ok(character.to_string());
    }
    let name = reference.xml10_content();
    quick_xml::escape::resolve_xml_entity(&name)
        .map(str::to_owned)
        .ok_or_else(|| format!("unknown entity `{name}`"))
}
