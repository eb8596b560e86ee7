//! Limits on reading a command line. A line beyond a limit is opaque: it asks, and no grant covers it.

/// Maximum length of a line. No one reads a longer line before deciding.
pub(crate) const LINE_BYTES: usize = 32 * 1024;
/// Maximum nesting of `sh -c 'sh -c …'` and `sudo env nice …`.
pub(crate) const NESTED_LINES: u8 = 6;
/// Maximum number of commands of a line.
pub(crate) const PARTS: usize = 256;
/// Maximum number of lines within a line: `sh -c`, and texts that are guessed to be lines.
pub(crate) const LINES: usize = 16;
/// Maximum number of a command's words that are tried as the start of another command.
pub(crate) const GUESSED_STARTS: usize = 16;
/// Maximum number of words that are read of such a command. The rest is ignored.
pub(crate) const GUESSED_WORDS: usize = 32;
/// Maximum number of `=` in a word that may precede a command.
pub(crate) const GUESSED_VALUES: usize = 2;
