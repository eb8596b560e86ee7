//! Limits of the command line. `docs/reference/limits.md` is generated from the comments.

/// Maximum number of lines that a person can type ahead in `holdshort chat`. Further lines are rejected.
pub(crate) const HELD_LINES: usize = 20;
/// Maximum size, in bytes, of the configuration file of a server. If the file is larger, no command starts.
pub(crate) const CONFIG_BYTES: u64 = 256 * 1024;
/// Maximum number of fields that the terminal asks for one by one. An answer with more fields is typed as JSON, or in
/// an editor.
pub(crate) const FORM_PARTS: usize = 60;
/// Maximum nesting and schema references of the fields of an answer. A deeper answer is typed as JSON or in an editor.
pub(crate) const FORM_DEPTH: usize = 6;
/// Maximum number of characters of a schema that is shown for an answer in JSON. A longer schema is truncated.
pub(crate) const SHAPE_CHARS: usize = 800;
/// Maximum size, in bytes, of an existing `summary.json` that a run would replace. If the file is larger, the run does
/// not start.
pub(crate) const SUMMARY_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum size, in bytes, of the file in which the logins of this terminal are stored. A larger file is refused.
pub(crate) const KEPT_LOGINS_BYTES: u64 = 256 * 1_024;
/// Maximum number of freezes that a command lists to explain why no work starts. For the other freezes, only their
/// number is printed.
pub(crate) const WARNINGS: usize = 5;
/// Maximum number of recent deliveries of a channel that `holdshort channels` searches for one that was attempted. If
/// none of these deliveries was attempted, the command reports that nothing was sent recently.
pub(crate) const CHANNEL_DELIVERIES: usize = 20;
/// Maximum size, in bytes, of a coding agent's settings file. If the file is larger, no hook is installed.
pub(crate) const SETTINGS_BYTES: u64 = 1_024 * 1_024;
/// Maximum size, in bytes, of the configuration file or of the installation record of a hook. A larger file is refused.
pub(crate) const HOOK_FILE_BYTES: u64 = 256 * 1_024;
/// Maximum time in which a coding agent must print its version. If the coding agent takes longer, its hook is not
/// installed.
pub(crate) const VERSION_MS: u64 = 60_000;
/// Maximum time in which the server must answer when `holdshort hook status` checks a hook. If the server takes longer,
/// the check fails.
pub(crate) const HOOK_CHECK_MS: u64 = 10_000;
/// Maximum size, in bytes, of a response with approved changes. If the response is larger, all files stay unchanged.
pub(crate) const EXEC_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum size, in bytes, of one file with approved changes. If the file is larger, all files stay unchanged.
pub(crate) const EXEC_BODY_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum size, in bytes, of a file with approved changes that `holdshort exec` reads into memory. A larger file is
/// written to a temporary file first.
pub(crate) const EXEC_MEMORY_BYTES: usize = 1024 * 1024;
/// Maximum size, in bytes, of the file with the key of an agent. If the file is larger, it is rejected, and the call is
/// denied.
pub(crate) const KEY_FILE_BYTES: u64 = 4 * 1_024;
/// Maximum size, in bytes, of the payload that a coding agent sends to its hook. A call with a larger payload is
/// denied.
pub(crate) const HOOK_PAYLOAD_BYTES: u64 = 10 * 1_024 * 1_024;
/// Maximum size, in bytes, of a response that the server sends to a hook. If the response is larger, the call is
/// denied.
pub(crate) const HOOK_RESPONSE_BYTES: usize = 4 * 1_024 * 1_024;
/// Maximum size, in bytes, of the arguments of a coding agent's call, and of the file that the call changes, for which
/// one card shows the whole change. For a larger call, the card shows no diff, and of each long argument only the
/// beginning and the digest.
pub(crate) const HOOK_CALL_BYTES: usize = 200 * 1_024;
/// Maximum size, in bytes, of one argument on the card of a call that exceeds `hook_call_bytes`. If an argument is
/// longer, the card shows its beginning and its digest.
pub(crate) const HOOK_TEXT_BYTES: usize = 8 * 1_024;
/// Maximum size, in bytes, of a file for which the hook computes a diff, and which it compares after the change. For a
/// larger file, the card shows no diff, and the file is not compared after the change.
pub(crate) const HOOK_FILE_READ_BYTES: u64 = 1_024 * 1_024;
/// Maximum size, in bytes, of the file with the state of a coding agent's session. If the file is larger, the call is
/// denied.
pub(crate) const HOOK_STATE_BYTES: u64 = 4 * 1_024 * 1_024;
/// Maximum number of requests, of decisions and of written files in the state of a coding agent's session. The oldest
/// entries are removed first, and a person may then be asked again about the same call.
pub(crate) const HOOK_CALLS: usize = 500;
