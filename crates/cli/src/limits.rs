//! Limits of the terminal. `docs/reference/limits.md` is generated from the comments.

/// Maximum lines typed ahead in `holdshort chat`. Further lines are refused.
pub(crate) const HELD_LINES: usize = 20;
/// Maximum bytes of the configuration of a server. With a larger file no command starts.
pub(crate) const CONFIG_BYTES: u64 = 256 * 1024;
/// Maximum number of fields that the terminal asks for one by one. An answer with more fields is typed as JSON, or in
/// an editor.
pub(crate) const FORM_PARTS: usize = 60;
/// Maximum nesting and schema references of the fields of an answer. A deeper answer is typed as JSON or in an editor.
pub(crate) const FORM_DEPTH: usize = 6;
/// Maximum characters of the schema shown for an answer in JSON. A longer schema is cut.
pub(crate) const SHAPE_CHARS: usize = 800;
/// Maximum bytes of an existing `summary.json` that a run would replace. With a larger one the run does not start.
pub(crate) const SUMMARY_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum bytes of the file of logins. A larger file is refused.
pub(crate) const KEPT_LOGINS_BYTES: u64 = 256 * 1_024;
/// Maximum freezes that are listed to explain why no work starts. The others appear only as a number.
pub(crate) const WARNINGS: usize = 5;
/// Maximum recent deliveries of a channel that `holdshort channels` searches for a delivery attempt. Without an attempt
/// among them, it reports that nothing was sent recently.
pub(crate) const CHANNEL_DELIVERIES: usize = 20;
/// Maximum bytes of a settings file of a coding agent. With a larger one no hook is installed.
pub(crate) const SETTINGS_BYTES: u64 = 1_024 * 1_024;
/// Maximum bytes of the configuration or of the installation record of a hook. A larger file is refused.
pub(crate) const HOOK_FILE_BYTES: u64 = 256 * 1_024;
/// Maximum time in which a coding agent must print its version. After that its hook is not installed.
pub(crate) const VERSION_MS: u64 = 60_000;
/// Maximum time in which the server must answer a check of a hook. After that the check fails.
pub(crate) const HOOK_CHECK_MS: u64 = 10_000;
/// Maximum bytes of a response with a released changeset. With a larger response, nothing is changed.
pub(crate) const EXEC_RESPONSE_BYTES: usize = 64 * 1024 * 1024;
/// Maximum bytes of one released file. With a larger file, nothing is changed.
pub(crate) const EXEC_BODY_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum bytes of a released file that `holdshort exec` holds in memory. A larger file is written to a temporary file
/// first.
pub(crate) const EXEC_MEMORY_BYTES: usize = 1024 * 1024;
/// Maximum bytes of the file with the key of an agent. A larger file is refused, and the call is denied.
pub(crate) const KEY_FILE_BYTES: u64 = 4 * 1_024;
/// Maximum bytes of the payload that a coding agent sends to its hook. A call with a larger payload is denied.
pub(crate) const HOOK_PAYLOAD_BYTES: u64 = 10 * 1_024 * 1_024;
/// Maximum bytes of a response of the server to a hook. With a larger response the call is denied.
pub(crate) const HOOK_RESPONSE_BYTES: usize = 4 * 1_024 * 1_024;
/// Maximum bytes of the arguments of a coding agent's call and of the file that it changes, on one card. For a larger
/// call the card shows no difference, and only the beginning and the digest of long arguments.
pub(crate) const HOOK_CALL_BYTES: usize = 200 * 1_024;
/// Maximum bytes of one argument on the card of a call that is larger than `hook_call_bytes`. The card shows
/// the beginning and the digest of a longer argument.
pub(crate) const HOOK_TEXT_BYTES: usize = 8 * 1_024;
/// Maximum bytes of a file whose change the hook computes or compares. For a larger file the card shows no difference,
/// and the file is not compared after the change.
pub(crate) const HOOK_FILE_READ_BYTES: u64 = 1_024 * 1_024;
/// Maximum bytes of the state of a coding agent's session. With a larger file the call is denied.
pub(crate) const HOOK_STATE_BYTES: u64 = 4 * 1_024 * 1_024;
/// Maximum requests, decisions and written files in the state of a coding agent's session. The oldest are forgotten,
/// which causes further questions.
pub(crate) const HOOK_CALLS: usize = 500;
