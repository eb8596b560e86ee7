//! How much of a command line is read. A line beyond that is opaque: it asks, without a grant.

/// Nobody reads a longer line before deciding.
pub(super) const LINE_BYTES: usize = 32 * 1024;
/// How deep `sh -c 'sh -c …'` and `sudo env nice …` are followed.
pub(super) const NESTED_LINES: u8 = 6;
/// How many commands one line may hold.
pub(super) const PARTS: usize = 256;
/// How many lines one line may hold: `sh -c`, and what is guessed to be one.
pub(super) const LINES: usize = 16;
/// How many of a command's words are tried as the beginning of another command.
pub(super) const GUESSED_STARTS: usize = 16;
/// How many words of such a command are looked at. The rest is not.
pub(super) const GUESSED_WORDS: usize = 32;
