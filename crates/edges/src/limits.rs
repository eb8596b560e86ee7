//! Named limits of the edges, beside those of all that is served. Each is a typed error when it is hit.

use std::time::Duration;

/// Counts, texts, phases and words that the config of a MARS client may hold.
pub(crate) const MARS_COUNT: u64 = 10_000;
pub(crate) const MARS_TEXT_BYTES: usize = 4_096;
pub(crate) const MARS_PHASES: usize = 20;
pub(crate) const MARS_WORDS: usize = 100;
/// Sessions that its list looks at.
pub(crate) const MARS_SESSIONS: usize = 10_000;
/// How long nothing may happen in a session that it makes before it expires: 24 hours (contract A30).
pub(crate) const MARS_IDLE_MS: u64 = 24 * 3_600 * 1_000;
/// Why another agent goes on; what is cancelled for it is told so.
pub(crate) const CODELAB_SWITCH_REASON_BYTES: usize = 4 * 1024;
/// A subtask's result (contract B7).
pub(crate) const CODELAB_SUBTASK_RESULT_CHARS: usize = 500;
/// Entries of the audit log where none are asked for (contract B9).
pub(crate) const CODELAB_AUDIT_PAGE_DEFAULT: u16 = 100;
/// Events that one answer of the audit log reads.
pub(crate) const CODELAB_AUDIT_EVENTS: usize = 100_000;
/// Sessions that the list of a `CodeLab` client looks at.
pub(crate) const CODELAB_SESSIONS: usize = 1_000;
/// Events of a session's stream, from the newest on, in which what was said is looked for.
pub(crate) const CODELAB_HISTORY_EVENTS: u64 = 500;
/// What an agent says, where it stands with a request. All of it stands where it was said.
pub(crate) const MARS_SAID_CHARS: usize = 2_000;
/// What a call would do, beside it in a MARS client's request (contract A24). All of it stands in the description.
pub(crate) const MARS_PROMPT_CHARS: usize = 500;
/// Files of one call that a MARS client is told by name. The others are counted.
pub(crate) const MARS_FILES: usize = 200;
/// A line of the console of a MARS client: what is longer comes in several.
pub(crate) const MARS_LINE_BYTES: usize = 4_096;
/// Tasks whose last frame a server remembers, for clients that come back without a place.
pub(crate) const MARS_TASKS: usize = 10_000;
/// Messages of a session's history, and events of a run's, that one answer holds at most.
pub(crate) const MARS_HISTORY: usize = 1_000;
/// Crews that one principal starts in a minute, where nothing else is configured (contract D6).
pub(crate) const CREW_RUNS: u32 = 5;
/// Tasks that one principal resumes in a minute, where nothing else is configured (contract D5).
pub(crate) const CREW_RESUMES: u32 = 30;
/// How long a synchronous run is waited for. It goes on all the same.
pub(crate) const CREW_SYNC_TIME: Duration = Duration::from_mins(10);
/// Rows that a list of tasks, reviews or deliveries reads at once, and looks at in all.
pub(crate) const CREW_LIST: usize = 200;
pub(crate) const CREW_LISTED: usize = 10_000;
/// The title of a review that a service wants: the first line of its findings. The name of a crew that there is not.
pub(crate) const CREW_TITLE_CHARS: usize = 200;
/// A variable of the environment in a file.
pub(crate) const CREW_SETTING_BYTES: u64 = 8 * 1024;
/// The most that `WEBHOOK_TIMEOUT_SECONDS`, `MAX_RETRY_ATTEMPTS`, `RETRY_DELAY_SECONDS` and
/// `DEFAULT_REVIEW_EXPIRY_MINUTES` say: 90 days of the last.
pub(crate) const CREW_TIMEOUT_SECONDS: u64 = 60;
pub(crate) const CREW_ATTEMPTS: u64 = 20;
pub(crate) const CREW_RETRY_SECONDS: u64 = 3_600;
pub(crate) const CREW_EXPIRY_MINUTES: u64 = 90 * 24 * 60;
/// Origins whose pages may call the crew edge.
pub(crate) const CREW_ORIGINS: usize = 50;
/// The name of a webhook, its secret, and a header that is sent along; how many of these.
pub(crate) const CREW_WEBHOOK_BYTES: usize = 2_000;
pub(crate) const CREW_WEBHOOK_HEADERS: usize = 20;
/// How long a link to decide by is good for, where the review does not expire before.
pub(crate) const CREW_LINK_MS: u64 = 7 * 24 * 3_600 * 1_000;
