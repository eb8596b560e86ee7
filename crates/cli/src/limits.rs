//! What the terminal keeps at most. Each has a row in `docs/reference/limits.md`.

/// Lines that are typed while a conversation waits for the turn that they are for.
pub(crate) const HELD_LINES: usize = 20;
/// Bytes of a configuration of a server.
pub(crate) const CONFIG_BYTES: u64 = 256 * 1024;
/// Parts of an answer of data that are asked for one by one.
pub(crate) const FORM_PARTS: usize = 60;
/// Definitions that are followed for one of these parts, and objects in one another.
pub(crate) const FORM_DEPTH: usize = 6;
/// Characters of the shape of an answer that is typed as JSON: about ten lines of a terminal.
pub(crate) const SHAPE_CHARS: usize = 800;
/// Bytes of the summary of an earlier run that is looked into before its files are replaced.
pub(crate) const SUMMARY_BYTES: u64 = 64 * 1024 * 1024;

/// The file of logins at servers.
pub(crate) const KEPT_LOGINS_BYTES: u64 = 256 * 1_024;
/// Freezes that are told where somebody would wonder why nothing goes on.
pub(crate) const WARNINGS: usize = 5;
/// Deliveries of a channel among which one that was attempted is looked for.
pub(crate) const CHANNEL_DELIVERIES: usize = 20;
