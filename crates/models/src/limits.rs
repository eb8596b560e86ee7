//! Limits of files that the models read. `docs/reference/limits.md` is generated from the comments.

/// Maximum bytes of a file with a provider's key (`OPENAI_API_KEY_FILE`). With a larger one the server does not start.
pub(crate) const KEY_FILE_BYTES: u64 = 16 * 1024;
