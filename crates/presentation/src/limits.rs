//! Named limits of a page. Holds numbers only.

/// Maximum bytes of an agent's text in a report, about 80 pages. A longer text is cut; the file that the agent wrote
/// has the complete text.
pub const TEXT_BYTES: usize = 256 * 1024;
/// Maximum bytes of the HTML that one text becomes. Longer HTML is cut; the file that the agent wrote has the complete
/// text.
pub const PROSE_BYTES: usize = 2 * 1024 * 1024;
/// Maximum number of numbers that are marked in one text. The mark of a number takes eighty bytes. Further numbers are
/// counted, but not marked.
pub const MARKS: usize = 2_000;
/// Maximum nesting of lists, quotes and emphasis. An element that is nested deeper is shown at this depth.
pub const NESTING: usize = 16;
/// Maximum number of list and quote markers in one line. The parser examines all of them again in every later line. A
/// line with more markers is shown as plain text.
pub const MARKERS: usize = 64;
/// Maximum characters of a name, a label or a title. A longer text is cut.
pub const LINE_CHARS: usize = 300;
/// Maximum characters of a question, an answer, a context or an assumption. A longer text is cut, and the page shows
/// how many characters are missing.
pub const SAID_CHARS: usize = 20_000;
