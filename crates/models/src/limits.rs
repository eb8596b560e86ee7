//! Named limits of files that the crate `models` reads. `docs/reference/limits.md` is generated from the comments of
//! this file.

/// Maximum size, in bytes, of a file that contains a provider's API key (such as `OPENAI_API_KEY_FILE`). If the file is
/// larger, the server does not start.
pub(crate) const KEY_FILE_BYTES: u64 = 16 * 1024;
