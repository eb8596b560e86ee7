//! The named limits of a page, each with its reason. Holds numbers only.

/// Bytes of an agent's text that are rendered: about 80 pages. The page says that the rest is cut.
pub const TEXT_BYTES: usize = 256 * 1024;
/// Bytes of HTML that one text becomes: what escapes and marks add stays in proportion.
pub const PROSE_BYTES: usize = 2 * 1024 * 1024;
/// Numbers of one text that are marked: a mark is eighty bytes. The others are counted.
pub const MARKS: usize = 2_000;
/// Lists and quotes inside one another, and emphasis inside emphasis: deeper ones are shown at this depth.
pub const NESTING: usize = 16;
/// Characters that begin a list or a quote in one line. A line with more is no list: the parser looks at each of
/// them in every line that follows.
pub const MARKERS: usize = 64;
/// Characters of a name, a label or a title.
pub const LINE_CHARS: usize = 300;
/// Characters of a question, an answer, a context or an assumption.
pub const SAID_CHARS: usize = 20_000;
