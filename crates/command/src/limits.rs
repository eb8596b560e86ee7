//! Limits on reading a command line. A line beyond a limit needs an approval, and no grant covers it.

/// Maximum bytes of a command line. A longer line always needs an approval, and no session grant is offered.
pub(crate) const LINE_BYTES: usize = 32 * 1024;
/// Maximum nesting of `sh -c …` and `sudo env …`. A line with deeper nesting always needs an approval, without a
/// session grant.
pub(crate) const NESTED_LINES: u8 = 6;
/// Maximum commands of a line. A line with more always needs an approval, without a session grant.
pub(crate) const PARTS: usize = 256;
/// Maximum lines within a line, such as in `sh -c …`. A line with more always needs an approval, without a session
/// grant.
pub(crate) const LINES: usize = 16;
/// Maximum words of an unknown program that are tried as commands. A line with more always needs an approval, without a
/// session grant.
pub(crate) const GUESSED_STARTS: usize = 16;
/// Maximum words that are read of each command tried in this way. Further words are ignored.
pub(crate) const GUESSED_WORDS: usize = 32;
/// Maximum values after `=` in a word that are tried as commands. Further values are ignored.
pub(crate) const GUESSED_VALUES: usize = 2;
