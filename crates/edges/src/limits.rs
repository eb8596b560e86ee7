//! Named limits of the edges, in addition to the limits that apply to the whole server. A request that exceeds a limit
//! gets a typed error.

use std::time::Duration;

/// Maximum value of a count in the config of a MARS client, such as a number of iterations. A config with a higher
/// count is rejected.
pub(crate) const MARS_COUNT: u64 = 10_000;
/// Maximum length, in bytes, of a text in the config of a MARS client. A config with a longer text is refused.
pub(crate) const MARS_TEXT_BYTES: usize = 4_096;
/// Maximum number of phases in the config of a MARS client. A config with more phases is refused.
pub(crate) const MARS_PHASES: usize = 20;
/// Maximum number of words in a list in the config of a MARS client. A config with a longer list is refused.
pub(crate) const MARS_WORDS: usize = 100;
/// Maximum number of sessions that are scanned for one list of MARS sessions. Sessions beyond this number are not
/// listed.
pub(crate) const MARS_SESSIONS: usize = 10_000;
/// Time after which an idle MARS session expires (contract A30).
pub(crate) const MARS_IDLE_MS: u64 = 24 * 3_600 * 1_000;
/// Maximum number of bytes of `reason` of `switch_agent` in `CodeLab`. A longer reason is rejected with an error at
/// `/reason`.
pub(crate) const CODELAB_SWITCH_REASON_BYTES: usize = 4 * 1024;
/// Maximum number of characters of a subtask's result in `CodeLab` (contract B7). A longer result is truncated.
pub(crate) const CODELAB_SUBTASK_RESULT_CHARS: usize = 500;
/// Default number of entries in a response of the `CodeLab` audit log (contract B9). A client can set `limit` to get
/// more entries.
pub(crate) const CODELAB_AUDIT_PAGE_DEFAULT: u16 = 100;
/// Maximum number of events that are read for one response of the `CodeLab` audit log. If more events would be needed,
/// the response is marked `truncated`.
pub(crate) const CODELAB_AUDIT_EVENTS: usize = 100_000;
/// Maximum number of events that are read for the metrics of one `CodeLab` session. If the session has more events, the
/// response is marked `truncated`.
pub(crate) const CODELAB_METRICS_EVENTS: usize = 100_000;
/// Maximum number of model requests that the metrics of one `CodeLab` session list. The newest requests are listed, and
/// the response is marked `truncated`. The sums include all requests.
pub(crate) const CODELAB_METRICS_REQUESTS: usize = 1_000;
/// Maximum number of sessions that are scanned for one list of `CodeLab` sessions. The member `total` of the list never
/// exceeds this number.
pub(crate) const CODELAB_SESSIONS: usize = 1_000;
/// Number of the newest events of a session that `history` in `CodeLab` searches for messages. `GET
/// /v1/sessions/{id}/conversation` returns all messages.
pub(crate) const CODELAB_HISTORY_EVENTS: u64 = 500;
/// Maximum number of characters of an agent's message that a MARS request quotes. A longer message is truncated. The
/// frame that carries the message itself contains the full text.
pub(crate) const MARS_SAID_CHARS: usize = 2_000;
/// Maximum number of characters of `prompt` in a MARS request (contract A24), and of a client's text that an error
/// quotes. A longer text is truncated. The field `description` contains the full prompt.
pub(crate) const MARS_PROMPT_CHARS: usize = 500;
/// Maximum number of files of one call that a MARS frame lists. `files_not_told` is the number of files that are not
/// listed.
pub(crate) const MARS_FILES: usize = 200;
/// Number of the newest MARS runs that are searched when a client requests the content of a file. If only older runs
/// changed the file, it is reported as not found.
pub(crate) const MARS_FILE_RUNS: usize = 200;
/// Maximum number of bytes of a console line of a MARS client. A longer line is split.
pub(crate) const MARS_LINE_BYTES: usize = 4_096;
/// Maximum number of MARS tasks for which the server remembers the last frame that it sent. The oldest task is
/// forgotten first. If a client reconnects to a forgotten task without a position, it resumes at the current state.
pub(crate) const MARS_TASKS: usize = 10_000;
/// Maximum number of entries of a MARS history in one response. The newest entries are returned.
pub(crate) const MARS_HISTORY: usize = 1_000;
/// Default of `CREW_RUNS_PER_MINUTE`: number of crew runs that one principal may start per minute (contract D6). A
/// request to start more runs is rejected with `too_many_requests`.
pub(crate) const CREW_RUNS: u32 = 5;
/// Default of `CREW_RESUMES_PER_MINUTE`: number of decisions that one principal may send per minute (contract D5). A
/// request with a further decision is rejected with `too_many_requests`.
pub(crate) const CREW_RESUMES: u32 = 30;
/// Maximum time that the response to a synchronous start of a crew waits for the run. After this time the response
/// contains the current state of the run, and the run continues.
pub(crate) const CREW_SYNC_TIME: Duration = Duration::from_mins(10);
/// Number of tasks, reviews or deliveries that a list of the crew edge reads in one query.
pub(crate) const CREW_LIST: usize = 200;
/// Maximum number of tasks, reviews or deliveries that are scanned for one list of the crew edge. Entries beyond this
/// number are not listed. A list of tasks or reviews has a `next_cursor`, with which a client can request the rest.
pub(crate) const CREW_LISTED: usize = 10_000;
/// Maximum number of characters of the title of a requested review, and of an unknown crew name that an error quotes. A
/// longer text is truncated.
pub(crate) const CREW_TITLE_CHARS: usize = 200;
/// Maximum size, in bytes, of a file that contains the value of a setting of the crew edge. If the file is larger, the
/// server does not start.
pub(crate) const CREW_SETTING_BYTES: u64 = 8 * 1024;
/// Maximum of `WEBHOOK_TIMEOUT_SECONDS`. With a higher value the server does not start.
pub(crate) const CREW_TIMEOUT_SECONDS: u64 = 60;
/// Maximum of `MAX_RETRY_ATTEMPTS`. With a higher value the server does not start.
pub(crate) const CREW_ATTEMPTS: u64 = 20;
/// Maximum of `RETRY_DELAY_SECONDS`. With a higher value the server does not start.
pub(crate) const CREW_RETRY_SECONDS: u64 = 3_600;
/// Maximum of `DEFAULT_REVIEW_EXPIRY_MINUTES`: 90 days. With a higher value the server does not start.
pub(crate) const CREW_EXPIRY_MINUTES: u64 = 90 * 24 * 60;
/// Maximum number of origins in `CORS_ALLOWED_ORIGINS`. If there are more origins, the server does not start.
pub(crate) const CREW_ORIGINS: usize = 50;
/// Maximum number of bytes of the secret, and of each header value, of a crew webhook. A webhook with a longer value is
/// refused with `invalid_request`.
pub(crate) const CREW_WEBHOOK_BYTES: usize = 2_000;
/// Maximum number of headers of a crew webhook. A webhook with more headers is refused with `invalid_request`.
pub(crate) const CREW_WEBHOOK_HEADERS: usize = 20;
/// Maximum validity of a crew decision link, and its validity if a request sets none. The link also expires when the
/// review expires. A request for a longer validity is refused with `invalid_request`.
pub(crate) const CREW_LINK_MS: u64 = 7 * 24 * 3_600 * 1_000;
/// Time after which an MCP tool returns `pending` by default. Clients of the TypeScript SDK end a call after 60 s.
pub(crate) const MCP_PENDING_AFTER: Duration = Duration::from_secs(45);
/// Time for which the MCP tool `permission` waits by default. After this time it denies the call.
pub(crate) const MCP_PERMISSION_WAIT: Duration = Duration::from_hours(1);
/// Time after which a request of an MCP client expires by default.
pub(crate) const MCP_EXPIRES_IN: Duration = Duration::from_hours(24);
/// Time for which an approval can be used after the decision on a request of an MCP client.
pub(crate) const MCP_USABLE_MS: u64 = 24 * 3_600 * 1_000;
/// Time for which a repeated call gets the same refusal or answer. A later call is a new request.
pub(crate) const MCP_REPEAT_MS: u64 = 10 * 60 * 1_000;
/// Maximum number of earlier identical requests that a call is compared with. After them, the call is a new request.
pub(crate) const MCP_EARLIER_REQUESTS: usize = 16;
/// Maximum number of requests whose latest idempotency keys are cached. A full cache is cleared, and the keys are
/// found again in the journal.
pub(crate) const MCP_CACHED_KEYS: usize = 10_000;
/// Maximum value of `wait_seconds` of `get_decision`.
pub(crate) const MCP_WAIT_SECONDS: u64 = 50;
/// Longest wait of one request for a decision. A progress notification follows each wait.
pub(crate) const MCP_POLL: Duration = Duration::from_secs(20);
/// Time for which an absent or busy server is asked again before a tool returns an error.
pub(crate) const MCP_PATIENCE: Duration = Duration::from_secs(15);
/// Poll interval that the server suggests to clients of the tasks extension.
pub(crate) const MCP_TASK_POLL_MS: u64 = 2_000;
