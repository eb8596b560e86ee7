//! Named limits of files that the crate `models` reads. `docs/reference/limits.md` is generated from the comments.

/// Maximum size, in bytes, of a file that contains a provider's key (such as `OPENAI_API_KEY_FILE`). With a larger file
/// the server does not start.
pub(crate) const KEY_FILE_BYTES: u64 = 16 * 1024;
