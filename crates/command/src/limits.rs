//! Limits of the parser of command lines. If a line exceeds one of them, it needs an approval, and no grant can allow
//! it.

/// Maximum bytes of a command line. A longer line always needs an approval, and no grant for the session is offered.
pub(crate) const LINE_BYTES: usize = 32 * 1024;
/// Maximum nesting of command lines such as `sh -c …` and `sudo env …`. A command line with deeper nesting always needs
/// an approval, and no grant for the session is offered.
pub(crate) const NESTED_LINES: u8 = 6;
/// Maximum number of simple commands in a command line. A line with more commands always needs an approval, and no
/// grant for the session is offered.
pub(crate) const PARTS: usize = 256;
/// Maximum number of command lines that one command line contains as arguments, as in `sh -c …`. A line with more of
/// them always needs an approval, and no grant for the session is offered.
pub(crate) const LINES: usize = 16;
/// Maximum number of arguments of an unknown program that are checked as possible starts of a command. A command line
/// with more arguments always needs an approval, and no grant for the session is offered.
pub(crate) const GUESSED_STARTS: usize = 16;
/// Maximum number of words in a command that is guessed from the arguments of an unknown program. Further words are
/// ignored.
pub(crate) const GUESSED_WORDS: usize = 32;
/// Maximum number of `=` in one word of a command line: the text after each of them is checked as a possible command.
/// Further `=` are ignored.
pub(crate) const GUESSED_VALUES: usize = 2;
