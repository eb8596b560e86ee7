//! Named limits of a page, each with its reason. Holds numbers only.

/// Bytes of an agent's text that are rendered: about 80 pages. The page says that the rest is cut.
pub const TEXT_BYTES: usize = 256 * 1024;
/// Bytes of HTML for one text. The limit keeps escapes and marks in proportion.
pub const PROSE_BYTES: usize = 2 * 1024 * 1024;
/// Marked numbers of one text: a mark takes eighty bytes. The other numbers are only counted.
pub const MARKS: usize = 2_000;
/// Depth of nested lists and quotes, and of nested emphasis. Deeper ones are shown at this depth.
pub const NESTING: usize = 16;
/// Characters in one line that begin a list or a quote. A line with more is shown as text, because the parser
/// examines each of them in every following line.
pub const MARKERS: usize = 64;
/// Characters of a name, a label or a title.
pub const LINE_CHARS: usize = 300;
/// Characters of a question, an answer, a context or an assumption.
pub const SAID_CHARS: usize = 20_000;
