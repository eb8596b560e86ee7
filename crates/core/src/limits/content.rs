//! Limits of requests, and of the content of runs, sessions and plans.

/// Maximum bytes of the input of a run. A larger input is refused with `invalid_request`.
pub const INPUT_BYTES: usize = 256 * 1024;

/// Maximum bytes of an answer, a note or a message. A longer text is refused with `invalid_request`.
pub const TEXT_BYTES: usize = 64 * 1024;

/// Maximum characters of the URL of a page. A call with a longer URL fails; an edit with a longer URL is refused with
/// `invalid_request`.
pub const URL_CHARS: usize = 2_048;

/// Maximum bytes of the title of an interrupt or the label of an option. A longer text is refused with
/// `invalid_request`. Titles that the server writes are cut.
pub const TITLE_BYTES: usize = 500;

/// Maximum bytes of an external agent's payload, an edit or a result. A larger value is refused with `invalid_request`.
pub const PAYLOAD_BYTES: usize = 256 * 1024;

/// Maximum number of options of an external agent's interrupt. An interrupt with more options is refused with
/// `invalid_request`.
pub const OPTIONS: usize = 50;

/// Maximum bytes of the id of an option that an external agent defines. A longer id is refused with `invalid_request`.
pub const OPTION_BYTES: usize = 100;

/// Maximum number of events whose content one append erases. The next append erases the content of further events.
pub const ERASED_AT_ONCE: u64 = 1_000;

/// Maximum number of comments on one interrupt. A further comment is refused with `invalid_request`.
pub const COMMENTS: usize = 200;

/// Maximum number of earlier runs in the history that the next run of a conversation receives. Older runs are omitted,
/// with a note.
pub const EARLIER_RUNS: usize = 50;

/// Maximum bytes of the history that the next run of a conversation receives. Older runs are omitted, with a note.
pub const EARLIER_BYTES: usize = 24 * 1024;

/// Maximum bytes of the result of one run in the history of a conversation, so that people's messages have room. A
/// longer result is cut.
pub const EARLIER_RESULT_BYTES: usize = 4 * 1024;

/// Maximum number of gate rules that the request for a run may add. A request with more rules is refused with
/// `invalid_request`.
pub const RUN_RULES: usize = 200;

/// Maximum idle time that a session may set for its expiry. A longer time is refused with `invalid_request`.
pub const SESSION_IDLE_MS: u64 = 365 * 24 * 60 * 60 * 1_000;

/// Maximum bytes of the id of a subtask. A plan with a longer id is refused.
pub const SUBTASK_ID_BYTES: usize = 64;

/// Maximum bytes of the description of a subtask. A plan with a longer description is refused. Each request of the
/// subtask's step contains the description.
pub const DESCRIPTION_BYTES: usize = 16 * 1024;

/// Maximum bytes of the estimated duration of a subtask, such as `5 min`. A plan with a longer estimate is refused.
pub const ESTIMATED_TIME_BYTES: usize = 64;

/// Maximum number of problems of a plan in one report. Further problems are reported once the reported ones are
/// corrected.
pub const PLAN_PROBLEMS: usize = 20;
