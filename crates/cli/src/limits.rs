//! What the terminal keeps at most. Each has a row in `docs/reference/limits.md`.

/// Lines that are typed while a conversation waits for the turn that they are for.
pub(crate) const HELD_LINES: usize = 20;
/// Rows of the table of computed numbers in a coach's report; the summary has them all.
pub(crate) const REPORT_ROWS: usize = 400;
/// Bytes of a configuration, of a server or of a coach: contexts are a few pages at most.
pub(crate) const CONFIG_BYTES: u64 = 256 * 1024;
/// Days that a coach's agents may be told to look at: a year.
pub(crate) const CONFIG_DAYS: u16 = 366;
/// Parts of an answer of data that are asked for one by one.
pub(crate) const FORM_PARTS: usize = 20;
/// Definitions that are followed for one of these parts.
pub(crate) const FORM_DEPTH: usize = 6;
/// Freezes that are told where somebody would wonder why nothing goes on.
pub(crate) const WARNINGS: usize = 5;
