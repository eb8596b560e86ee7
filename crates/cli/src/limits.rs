//! What the terminal keeps at most. Each has a row in `docs/reference/limits.md`.

/// Lines that are typed while a conversation waits for the turn that they are for.
pub(crate) const HELD_LINES: usize = 20;
