//! Limits of what is read. Each has a row in `docs/reference/limits.md`.

/// Bytes of a file with a provider's key.
pub(crate) const KEY_FILE_BYTES: u64 = 16 * 1024;
