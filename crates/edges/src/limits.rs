//! Named limits of the edges, in addition to the limits of the whole server. Hitting one is a typed error.

use std::time::Duration;

/// Maximum of a count in the configuration of a MARS client. A configuration with a higher number is refused.
pub(crate) const MARS_COUNT: u64 = 10_000;
/// Maximum bytes of a text in the configuration of a MARS client. A configuration with a longer text is refused.
pub(crate) const MARS_TEXT_BYTES: usize = 4_096;
/// Maximum phases in the configuration of a MARS client. A configuration with more is refused.
pub(crate) const MARS_PHASES: usize = 20;
/// Maximum words of a list in the configuration of a MARS client. A configuration with more is refused.
pub(crate) const MARS_WORDS: usize = 100;
/// Maximum sessions that are scanned for one list of MARS. Then the list ends.
pub(crate) const MARS_SESSIONS: usize = 10_000;
/// Idle time of a MARS session (contract A30). Then the session expires.
pub(crate) const MARS_IDLE_MS: u64 = 24 * 3_600 * 1_000;
/// Maximum bytes of `reason` of `switch_agent` in `CodeLab`. A longer one is answered with an error at `/reason`.
pub(crate) const CODELAB_SWITCH_REASON_BYTES: usize = 4 * 1024;
/// Maximum characters of a subtask's result in `CodeLab` (contract B7). A longer result is cut.
pub(crate) const CODELAB_SUBTASK_RESULT_CHARS: usize = 500;
/// Audit entries in one answer of `CodeLab` without `limit` (contract B9). Set `limit` for more.
pub(crate) const CODELAB_AUDIT_PAGE_DEFAULT: u16 = 100;
/// Maximum events that are read for one audit answer of `CodeLab`. Then the answer is marked `truncated`.
pub(crate) const CODELAB_AUDIT_EVENTS: usize = 100_000;
/// Maximum sessions that are scanned for one list of `CodeLab`. Then `total` counts no further.
pub(crate) const CODELAB_SESSIONS: usize = 1_000;
/// Newest events of a session that are searched for `history` in `CodeLab`. `GET /v1/sessions/{id}/conversation` has
/// all messages.
pub(crate) const CODELAB_HISTORY_EVENTS: u64 = 500;
/// Maximum characters of an agent's message in a MARS request. A longer message is cut; its own frame has all of it.
pub(crate) const MARS_SAID_CHARS: usize = 2_000;
/// Maximum characters of `prompt` in a MARS request (contract A24). A longer one is cut; the description has all of it.
pub(crate) const MARS_PROMPT_CHARS: usize = 500;
/// Maximum files of one call that a MARS frame lists. `files_not_told` has the number of the others.
pub(crate) const MARS_FILES: usize = 200;
/// Maximum bytes of a console line of a MARS client. A longer line is split.
pub(crate) const MARS_LINE_BYTES: usize = 4_096;
/// Maximum MARS tasks whose last sent frame is stored. Clients of the oldest restart at the current state.
pub(crate) const MARS_TASKS: usize = 10_000;
/// Maximum entries of a MARS history in one answer. The newest are returned.
pub(crate) const MARS_HISTORY: usize = 1_000;
/// Default of `CREW_RUNS_PER_MINUTE`: crews that one principal may start (contract D6). Further ones are refused with
/// `too_many_requests`.
pub(crate) const CREW_RUNS: u32 = 5;
/// Default of `CREW_RESUMES_PER_MINUTE`: decisions of one principal (contract D5). Further ones are refused with
/// `too_many_requests`.
pub(crate) const CREW_RESUMES: u32 = 30;
/// Maximum wait for a synchronous crew run. Then the answer has the current state; the run continues.
pub(crate) const CREW_SYNC_TIME: Duration = Duration::from_mins(10);
/// Tasks, reviews or deliveries that a list of crew reads at once.
pub(crate) const CREW_LIST: usize = 200;
/// Maximum tasks, reviews or deliveries that are scanned for one list of crew. Then the list ends; for tasks and
/// reviews `next_cursor` continues.
pub(crate) const CREW_LISTED: usize = 10_000;
/// Maximum characters of the title of a requested review, or of an unknown crew name in an error. A longer text is cut.
pub(crate) const CREW_TITLE_CHARS: usize = 200;
/// Maximum bytes of a file with the value of an environment variable. With a larger file the server does not start.
pub(crate) const CREW_SETTING_BYTES: u64 = 8 * 1024;
/// Maximum of `WEBHOOK_TIMEOUT_SECONDS`. With a higher value the server does not start.
pub(crate) const CREW_TIMEOUT_SECONDS: u64 = 60;
/// Maximum of `MAX_RETRY_ATTEMPTS`. With a higher value the server does not start.
pub(crate) const CREW_ATTEMPTS: u64 = 20;
/// Maximum of `RETRY_DELAY_SECONDS`. With a higher value the server does not start.
pub(crate) const CREW_RETRY_SECONDS: u64 = 3_600;
/// Maximum of `DEFAULT_REVIEW_EXPIRY_MINUTES`: 90 days. With a higher value the server does not start.
pub(crate) const CREW_EXPIRY_MINUTES: u64 = 90 * 24 * 60;
/// Maximum origins in `CORS_ALLOWED_ORIGINS`. With more, the server does not start.
pub(crate) const CREW_ORIGINS: usize = 50;
/// Maximum bytes of the secret or a header value of a crew webhook. A longer one is refused with `invalid_request`.
pub(crate) const CREW_WEBHOOK_BYTES: usize = 2_000;
/// Maximum headers of a crew webhook. With more, the webhook is refused with `invalid_request`.
pub(crate) const CREW_WEBHOOK_HEADERS: usize = 20;
/// Default and maximum validity of a crew decision link, at most until the review expires. A longer one is refused with
/// `invalid_request`.
pub(crate) const CREW_LINK_MS: u64 = 7 * 24 * 3_600 * 1_000;
