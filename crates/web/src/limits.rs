//! Named limits of the server. Hitting one is a typed error.

use std::time::Duration;

/// Time limit for the headers of a request, from the connection or from the answer before. This also limits how long a
/// connection may be idle.
pub const HEADERS_TIME: Duration = Duration::from_secs(10);
/// Time between two pings on a silent stream. Proxies close a stream that is silent for half a minute.
pub const PING_TIME: Duration = Duration::from_secs(15);
/// Time limit for silence of a socket's client. Three of its answers to pings may be lost.
pub const SILENCE_TIME: Duration = Duration::from_mins(1);
/// Time limit for the client of a socket to authenticate.
pub const HELLO_TIME: Duration = Duration::from_secs(10);
/// Time limit for a stream's writer that waits for its reader.
pub const PATIENCE_TIME: Duration = Duration::from_secs(30);

/// Size of a file of certificates, or of a key.
pub const CERTIFICATE_BYTES: u64 = 256 * 1024;
/// Time between two checks for changed certificate files.
pub const CERTIFICATE_TIME: Duration = Duration::from_secs(5);

/// Time between two reads of a webhook's secret from the database while it is missing.
pub const WEBHOOK_TIME: Duration = Duration::from_secs(30);

/// Delivery attempts of one callback.
pub const CALLBACK_ATTEMPTS: u64 = 8;
/// Time from the first attempt to the second. Each later wait is four times as long, seven and a half hours in all.
pub const CALLBACK_RETRY_MS: u64 = 5_000;
/// Time limit of one attempt.
pub const CALLBACK_TIMEOUT_MS: u64 = 10_000;
/// Time between two sweeps of the secrets of callbacks, webhooks and browsers.
pub const KEPT_SWEEP_TIME: Duration = Duration::from_hours(1);
/// Time for which a secret is kept that the journal does not know. Its event follows in the next moment, or never.
pub const KEPT_UNKNOWN_MS: u64 = 3_600 * 1_000;

/// Size of a request body.
pub const BODY_BYTES: usize = 1024 * 1024;
/// Size up to which a body that is too large is read and dropped, so that its sender reads the refusal.
pub const DRAINED_BYTES: usize = 64 * 1024 * 1024;
/// Time limit for a body to arrive.
pub const BODY_TIME: Duration = Duration::from_secs(30);

/// Length of a request id from the caller. A longer one is replaced.
pub const REQUEST_ID_CHARS: usize = 128;

/// Length of an idempotency key.
pub const IDEMPOTENCY_KEY_BYTES: usize = 255;

/// Items of one page.
pub const PAGE: u16 = 200;
/// Items of one page if the request names no number.
pub const PAGE_DEFAULT: u16 = 50;
/// Size at which a page is cut. A page always holds at least one item.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Deliveries of an interrupt in its record.
pub const RECORD_DELIVERIES: usize = 200;
/// Characters of a task where it names a run, such as in a row of the inbox. The run's input has the whole text.
pub const TASK_CHARS: usize = 300;
/// Events read from the store at once.
pub const READ_EVENTS: usize = 64;

/// Subtasks of a draft plan whose layout is computed.
pub const LAYOUT_SUBTASKS: usize = 200;

/// Open connections that have not authenticated; a quarter of the descriptors if that is less. One more evicts the
/// oldest.
pub const UNAUTHENTICATED_CONNECTIONS: usize = 1_024;
/// Open connections of agents; half of the descriptors if that is less. One half of the streams is left to people.
pub const AGENT_CONNECTIONS: usize = 10_000;
/// Average requests a second of each agent, if nothing else is configured. Agents that ask people need far fewer.
pub const AGENT_REQUESTS: u32 = 200;
/// Burst of an agent's requests, in seconds of that average.
pub const AGENT_BURST_SECONDS: u32 = 5;
/// Rate of all agents together, as a multiple of one agent's rate.
pub const AGENT_SHARES: u32 = 5;
/// Agents whose rates are remembered at once. Idle ones are forgotten.
pub const RATED_AGENTS: usize = 4_096;

/// Requests to sign in from one address in a minute, if nothing else is configured.
pub const SIGN_IN_REQUESTS: u32 = 120;
/// Decisions of one principal in a minute, if nothing else is configured.
pub const DECISIONS: u32 = 6_000;
/// Addresses and principals whose rates are remembered at once. Idle ones are forgotten first.
pub const RATED: usize = 10_000;

/// Frames in a row over the rate of a socket's agent before the socket is closed. An agent that waits as told never
/// sends so many.
pub const OVER_RATE_FRAMES: u32 = 100;

/// Open event streams and sockets.
pub const STREAMS: u32 = 20_000;
/// Long polls that wait at once.
pub const POLLS: usize = 10_000;
/// The longest wait of a long poll.
pub const POLL_SECONDS: u16 = 60;
/// Recent events that all followers of everything share. A follower that is further behind reads the journal itself.
pub const RECENT_EVENTS: usize = 1_024;
/// Size of the recent events in the journal's encoding. In memory they take up to three times as much.
pub const RECENT_BYTES: usize = 8 * 1024 * 1024;
/// Frames that a socket's reader may be behind before its writer waits.
pub const SOCKET_FRAMES: usize = 64;
/// Wait before a stream's reader connects again, as sent to the reader.
pub const RETRY: Duration = Duration::from_secs(1);
/// Runs whose visibility is remembered.
pub const SIGHT_RUNS: usize = 4_096;
/// Events that one page examines. Most of them may be invisible to the caller.
pub const SCANNED_EVENTS: usize = 10_000;

/// Size of a frame of a socket's client.
pub const FRAME_BYTES: usize = 1024 * 1024;
/// Size up to which a frame that is too large is read, so that its sender reads the refusal.
pub const FRAME_READ_BYTES: usize = 4 * FRAME_BYTES;
/// Read buffer of each socket, also while it is silent.
pub const READ_BUFFER_BYTES: usize = 4 * 1024;
/// Size of the small frames that a socket gathers before it writes them.
pub const WRITE_BUFFER_BYTES: usize = 16 * 1024;
/// Subscriptions of one socket.
pub const SUBSCRIPTIONS: usize = 64;
/// Answers that a socket's client may be behind before no more frames are read from it.
pub const ANSWERS: usize = 64;
/// Time limit for the closing frames of a socket.
pub const GOODBYE_TIME: Duration = Duration::from_secs(3);

/// Login links that can be redeemed at once. One more replaces the oldest.
pub const LOGIN_CODES: usize = 1_000;
/// Login links of one person. One more replaces their oldest.
pub const LOGIN_CODES_OF_PERSON: usize = 10;
/// Validity of a login link: 15 minutes.
pub const LOGIN_CODE_MS: u64 = 15 * 60 * 1_000;
/// Logins at once. One more replaces the oldest.
pub const LOGINS: usize = 1_000;
/// Logins of one person. One more replaces their oldest.
pub const LOGINS_OF_PERSON: usize = 100;
/// Validity of a login: 30 days.
pub const LOGIN_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// Time limit for a sign-in at the provider: 10 minutes.
pub const SIGN_IN_MS: u64 = 10 * 60 * 1_000;
/// Time limit for the browser that comes back from the provider to redeem its code: a minute.
pub const SIGN_IN_CODE_MS: u64 = 60 * 1_000;
/// Completed sign-ins that are remembered, so that none is repeated. The provider accepts no code twice, either.
pub const SIGN_INS: usize = 10_000;
/// Unfinished sign-ins of one browser, such as in several tabs.
pub const SIGN_INS_OF_BROWSER: usize = 5;
/// Time for which a terminal can fetch the result of its sign-in again, if it missed the result: a minute.
pub const SIGN_IN_TOLD_MS: u64 = 60 * 1_000;
/// Validity of the page that a sign-in led to: an hour.
pub const SIGNED_IN_PAGE_MS: u64 = 3_600 * 1_000;
/// Length of the path of this server that a sign-in leads to.
pub const SIGN_IN_TO_BYTES: usize = 1_000;

/// Validity of a decision link if the request names none: 7 days.
pub const LINK_DEFAULT_MS: u64 = 7 * 24 * 3_600 * 1_000;
/// The longest validity of a decision link: 30 days.
pub const LINK_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// Time for which a stopping server waits for open requests, and for running tools. Container runtimes kill a process
/// ten seconds after they asked it to stop.
pub const STOP_TIME: Duration = Duration::from_secs(8);

/// The longest expiry: ten years. A longer one is a mistake, and a far longer one is not a valid time.
pub const EXPIRY_MS: u64 = 10 * 366 * 24 * 3_600 * 1_000;
/// Length of a person's id, a name or a pattern.
pub const LINE_BYTES: usize = 200;
/// Newest runs that a session lists.
pub const SESSION_RUNS: usize = 50;

/// Runs that are listed for each node that drives them.
pub const NODE_RUNS: usize = 100;
/// Leases that are read for that list.
pub const NODE_LEASES: usize = 10_000;

/// Files in the folder of workflows.
pub const WORKFLOW_FILES: usize = 1_000;

/// Attempts to release the calls of a client that left, and the time between two attempts.
pub const LET_GO_ATTEMPTS: usize = 60;
pub const LET_GO_PAUSE: Duration = Duration::from_secs(1);

/// Open interrupts that are examined when one of their approvers is removed.
pub const LEFT_INTERRUPTS: usize = 100;

/// Rows of each list that `/metrics` counts at most.
pub const METRICS_ROWS: usize = 10_000;
/// Rows that `/metrics` reads at once.
pub const METRICS_PAGE: usize = 1_000;
