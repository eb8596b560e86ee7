//! Limits of the terminal. Each has a row in `docs/reference/limits.md`.

/// Lines typed ahead while a conversation waits for the turn to which they belong.
pub(crate) const HELD_LINES: usize = 20;
/// Bytes of a server's configuration file.
pub(crate) const CONFIG_BYTES: u64 = 256 * 1024;
/// Fields of a structured answer that are asked one by one.
pub(crate) const FORM_PARTS: usize = 60;
/// Levels of nested objects, and schema references that are resolved for one field.
pub(crate) const FORM_DEPTH: usize = 6;
/// Characters of the schema shown for an answer in JSON: about ten lines of a terminal.
pub(crate) const SHAPE_CHARS: usize = 800;
/// Bytes of an earlier run's summary that is read before its files are replaced.
pub(crate) const SUMMARY_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes of the file of logins.
pub(crate) const KEPT_LOGINS_BYTES: u64 = 256 * 1_024;
/// Freezes that are listed to explain why no work starts.
pub(crate) const WARNINGS: usize = 5;
/// Recent deliveries of a channel that are searched for one that was attempted.
pub(crate) const CHANNEL_DELIVERIES: usize = 20;
