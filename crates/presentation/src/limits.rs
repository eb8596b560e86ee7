//! Named limits of a page. Holds numbers only.

/// Maximum bytes of an agent's text in a report, about 80 pages. A longer text is cut; the agent's file has the
/// complete text.
pub const TEXT_BYTES: usize = 256 * 1024;
/// Maximum bytes of the HTML of one text. Longer HTML is cut; the agent's file has the complete text.
pub const PROSE_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of marked numbers in one text. A mark takes eighty bytes. Further numbers are counted but not marked.
pub const MARKS: usize = 2_000;
/// Maximum nesting of lists, quotes and emphasis. A deeper element is shown at this depth.
pub const NESTING: usize = 16;
/// Maximum number of list and quote markers in one line, because the parser examines them again in every later line. A
/// line with more is shown as plain text.
pub const MARKERS: usize = 64;
/// Maximum characters of a name, a label or a title. A longer text is cut.
pub const LINE_CHARS: usize = 300;
/// Maximum characters of a question, an answer, a context or an assumption. A longer text is cut, and the number of
/// characters that are left out is shown.
pub const SAID_CHARS: usize = 20_000;
