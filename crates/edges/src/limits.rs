//! Named limits of the edges, in addition to the limits of the whole server. Hitting one is a typed error.

use std::time::Duration;

/// Limits in the config of a MARS client: largest count, bytes of a text, phases, and words of a list.
pub(crate) const MARS_COUNT: u64 = 10_000;
pub(crate) const MARS_TEXT_BYTES: usize = 4_096;
pub(crate) const MARS_PHASES: usize = 20;
pub(crate) const MARS_WORDS: usize = 100;
/// Sessions that one list of the MARS edge scans.
pub(crate) const MARS_SESSIONS: usize = 10_000;
/// Idle time after which a session of the MARS edge expires: 24 hours (contract A30).
pub(crate) const MARS_IDLE_MS: u64 = 24 * 3_600 * 1_000;
/// Reason for switching the agent. It is also the reason of the cancelled run.
pub(crate) const CODELAB_SWITCH_REASON_BYTES: usize = 4 * 1024;
/// Length of a subtask's result (contract B7).
pub(crate) const CODELAB_SUBTASK_RESULT_CHARS: usize = 500;
/// Default number of audit log entries in one response (contract B9).
pub(crate) const CODELAB_AUDIT_PAGE_DEFAULT: u16 = 100;
/// Events that one response of the audit log reads.
pub(crate) const CODELAB_AUDIT_EVENTS: usize = 100_000;
/// Sessions that one list of the `CodeLab` edge scans.
pub(crate) const CODELAB_SESSIONS: usize = 1_000;
/// Newest events of a session's stream that are searched for its messages.
pub(crate) const CODELAB_HISTORY_EVENTS: u64 = 500;
/// Part of an agent's message that a request shows. The whole text is in the frame of the message itself.
pub(crate) const MARS_SAID_CHARS: usize = 2_000;
/// Length of `prompt`, the summary of a call in a MARS request (contract A24). The description holds the whole text.
pub(crate) const MARS_PROMPT_CHARS: usize = 500;
/// Files of one call that a MARS frame lists by name. Further files are counted.
pub(crate) const MARS_FILES: usize = 200;
/// Line of a MARS client's console. A longer line is split.
pub(crate) const MARS_LINE_BYTES: usize = 4_096;
/// Tasks for which a server remembers the last frame sent, for clients that reconnect without a position.
pub(crate) const MARS_TASKS: usize = 10_000;
/// Messages of a session's history, or events of a run's history, in one response.
pub(crate) const MARS_HISTORY: usize = 1_000;
/// Default number of crews that one principal may start per minute (contract D6).
pub(crate) const CREW_RUNS: u32 = 5;
/// Default number of tasks that one principal may resume per minute (contract D5).
pub(crate) const CREW_RESUMES: u32 = 30;
/// Longest wait for a synchronous run. The run continues after it.
pub(crate) const CREW_SYNC_TIME: Duration = Duration::from_mins(10);
/// Rows that a list of tasks, reviews or deliveries reads at once, and that it scans in total.
pub(crate) const CREW_LIST: usize = 200;
pub(crate) const CREW_LISTED: usize = 10_000;
/// Title of a review that a service requested, taken from the first line of the findings. An unknown crew name in an
/// error has the same limit.
pub(crate) const CREW_TITLE_CHARS: usize = 200;
/// Size of a file that holds the value of an environment variable.
pub(crate) const CREW_SETTING_BYTES: u64 = 8 * 1024;
/// Largest values of `WEBHOOK_TIMEOUT_SECONDS`, `MAX_RETRY_ATTEMPTS`, `RETRY_DELAY_SECONDS` and
/// `DEFAULT_REVIEW_EXPIRY_MINUTES`. The last one is 90 days.
pub(crate) const CREW_TIMEOUT_SECONDS: u64 = 60;
pub(crate) const CREW_ATTEMPTS: u64 = 20;
pub(crate) const CREW_RETRY_SECONDS: u64 = 3_600;
pub(crate) const CREW_EXPIRY_MINUTES: u64 = 90 * 24 * 60;
/// Origins whose pages may call the crew edge.
pub(crate) const CREW_ORIGINS: usize = 50;
/// Bytes of a webhook's secret or of one of its header values, and the number of its headers.
pub(crate) const CREW_WEBHOOK_BYTES: usize = 2_000;
pub(crate) const CREW_WEBHOOK_HEADERS: usize = 20;
/// Lifetime of a decision link. A review that expires earlier shortens it.
pub(crate) const CREW_LINK_MS: u64 = 7 * 24 * 3_600 * 1_000;
