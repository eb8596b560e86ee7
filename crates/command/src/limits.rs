//! How much of a command line is read. A line beyond that is opaque: it asks, without a grant.

/// Nobody reads a longer line before deciding.
pub(crate) const LINE_BYTES: usize = 32 * 1024;
/// How deep `sh -c 'sh -c …'` and `sudo env nice …` are followed.
pub(crate) const NESTED_LINES: u8 = 6;
/// How many commands one line may hold.
pub(crate) const PARTS: usize = 256;
/// How many lines one line may hold: `sh -c`, and what is guessed to be one.
pub(crate) const LINES: usize = 16;
/// How many of a command's words are tried as the beginning of another command.
pub(crate) const GUESSED_STARTS: usize = 16;
/// How many words of such a command are looked at. The rest is not.
pub(crate) const GUESSED_WORDS: usize = 32;
/// How many `=` of one word are looked behind for a command.
pub(crate) const GUESSED_VALUES: usize = 2;
