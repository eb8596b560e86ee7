//! Named limits of a page. Holds numbers only.

/// Maximum bytes of an agent's text in a report, about 80 pages. The rest is cut; the file of the text is whole.
pub const TEXT_BYTES: usize = 256 * 1024;
/// Maximum bytes of the HTML of one text. The rest is cut; the file of the text is whole.
pub const PROSE_BYTES: usize = 2 * 1024 * 1024;
/// Maximum marked numbers of one text; a mark takes eighty bytes. The others appear only as a number.
pub const MARKS: usize = 2_000;
/// Maximum nesting of lists, quotes and emphasis. Deeper ones are shown at this depth.
pub const NESTING: usize = 16;
/// Maximum list and quote signs in one line, because the parser examines each again in every later line. A line with
/// more is shown as text.
pub const MARKERS: usize = 64;
/// Maximum characters of a name, a label or a title. A longer one is cut.
pub const LINE_CHARS: usize = 300;
/// Maximum characters of a question, an answer, a context or an assumption. The rest is cut, with the number of its
/// characters.
pub const SAID_CHARS: usize = 20_000;
