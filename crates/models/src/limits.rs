//! What is read at most. Each has a row in `docs/reference/limits.md`.

/// A file that holds a provider's key.
pub(crate) const KEY_FILE_BYTES: u64 = 16 * 1024;
