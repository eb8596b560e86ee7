//! Limits of requests, and of the content of runs, sessions and plans.

/// Maximum bytes of the input of a run. A larger input is refused with `invalid_request`.
pub const INPUT_BYTES: usize = 256 * 1024;

/// Maximum bytes of an answer, a note or a message. A longer text is refused with `invalid_request`.
pub const TEXT_BYTES: usize = 64 * 1024;

/// Maximum characters of the URL of a page. The call with a longer one fails; an edit is refused with
/// `invalid_request`.
pub const URL_CHARS: usize = 2_048;

/// Maximum bytes of the title of an interrupt or the label of an option. A longer text is refused with
/// `invalid_request`; the server's own titles are cut.
pub const TITLE_BYTES: usize = 500;

/// Maximum bytes of an external agent's payload, an edit or a result. A larger value is refused with `invalid_request`.
pub const PAYLOAD_BYTES: usize = 256 * 1024;

/// Maximum options of one interrupt of an external agent. With more, the interrupt is refused with `invalid_request`.
pub const OPTIONS: usize = 50;

/// Maximum bytes of the id of an option that an external agent defines. A longer id is refused with `invalid_request`.
pub const OPTION_BYTES: usize = 100;

/// Maximum events whose content one append erases. The next append erases the rest.
pub const ERASED_AT_ONCE: u64 = 1_000;

/// Maximum comments on one interrupt. A further one is refused with `invalid_request`.
pub const COMMENTS: usize = 200;

/// Maximum earlier runs in the history that the next run of a conversation receives. Older runs are omitted, with a
/// note.
pub const EARLIER_RUNS: usize = 50;

/// Maximum bytes of the history that the next run of a conversation receives. Older runs are omitted, with a note.
pub const EARLIER_BYTES: usize = 24 * 1024;

/// Maximum bytes of each run's result in that history, so that messages have room. A longer result is cut.
pub const EARLIER_RESULT_BYTES: usize = 4 * 1024;

/// Maximum gate rules that the request for one run may add. With more, the request is refused with `invalid_request`.
pub const RUN_RULES: usize = 200;

/// Maximum idle time after which a session expires. A longer time is refused with `invalid_request`.
pub const SESSION_IDLE_MS: u64 = 365 * 24 * 60 * 60 * 1_000;

/// Maximum bytes of the id of a subtask. A plan with a longer id is refused.
pub const SUBTASK_ID_BYTES: usize = 64;

/// Maximum bytes of the description of a subtask, which each request of its step contains. A plan with a longer one is
/// refused.
pub const DESCRIPTION_BYTES: usize = 16 * 1024;

/// Maximum problems of a plan in one report. Later problems are reported after these are corrected.
pub const PLAN_PROBLEMS: usize = 20;
