//! Named limits of the server. Exceeding a limit is a typed error.

use std::time::Duration;

/// Time limit for the headers of a request, and for an idle connection. After this time, the connection is closed.
pub const HEADERS_TIME: Duration = Duration::from_secs(10);
/// Time after which a silent stream receives a ping (SSE: a comment), because proxies close silent streams.
pub const PING_TIME: Duration = Duration::from_secs(15);
/// Interval of heartbeat frames to clients of the crew edge, which reconnect if these frames are missing.
pub const HEARTBEAT_TIME: Duration = Duration::from_secs(30);
/// Maximum time without a pong from a WebSocket client. After this time, the socket is closed (4408); the client
/// resumes from its last position.
pub const SILENCE_TIME: Duration = Duration::from_mins(1);
/// Time limit for the first frame of a WebSocket, `hello`. After this time, the socket is closed (4401).
pub const HELLO_TIME: Duration = Duration::from_secs(10);
/// Maximum time for which a reader of a stream receives no data. After this time, the stream is closed; the client
/// resumes from its last position.
pub const PATIENCE_TIME: Duration = Duration::from_secs(30);

/// Maximum number of bytes of the files of `--tls-cert` and `--tls-key`. With a larger file, the server does not start.
/// If a file grows beyond the limit later, the server ignores the change and logs a warning.
pub const CERTIFICATE_BYTES: u64 = 256 * 1024;
/// Interval between two checks for changed certificate files.
pub const CERTIFICATE_TIME: Duration = Duration::from_secs(5);

/// Interval at which a missing secret of a webhook is searched again.
pub const WEBHOOK_TIME: Duration = Duration::from_secs(30);

/// Maximum number of attempts of one callback. After the last attempt, the delivery fails; retry the delivery with
/// `holdshort deliveries retry ID`.
pub const CALLBACK_ATTEMPTS: u64 = 8;
/// Delay between the first and the second attempt of a callback. Each later delay is four times as long.
pub const CALLBACK_RETRY_MS: u64 = 5_000;
/// Time limit of one attempt of a callback. After this time, the attempt fails.
pub const CALLBACK_TIMEOUT_MS: u64 = 10_000;
/// Interval at which unused secrets of callbacks, webhooks and browsers are deleted.
pub const KEPT_SWEEP_TIME: Duration = Duration::from_hours(1);
/// Maximum age of a stored secret that no event in the journal refers to. An older secret is deleted.
pub const KEPT_UNKNOWN_MS: u64 = 3_600 * 1_000;

/// Maximum number of bytes of a request body. A larger body is refused with `body_too_large` (413).
pub const BODY_BYTES: usize = 1024 * 1024;
/// Maximum number of bytes of a refused body that are read and discarded, so that the client reads the refusal. If the
/// body is larger, the connection is closed.
pub const DRAINED_BYTES: usize = 64 * 1024 * 1024;
/// Time limit for a request body to arrive. After this time, the request is refused with `request_timeout` (408).
pub const BODY_TIME: Duration = Duration::from_secs(30);

/// Maximum number of characters of the caller's `X-Request-Id`. A longer id is replaced.
pub const REQUEST_ID_CHARS: usize = 128;

/// Maximum number of bytes of an `Idempotency-Key`. A longer key is refused with `invalid_header` (400).
pub const IDEMPOTENCY_KEY_BYTES: usize = 255;

/// Maximum of `limit`, the number of items on a page. A higher number is refused with `invalid_query` (400).
pub const PAGE: u16 = 200;
/// Number of items on a page without `limit`. `next_cursor` continues with the next page.
pub const PAGE_DEFAULT: u16 = 50;
/// Maximum number of bytes of a page with several items. `next_cursor` continues with the next page.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of deliveries in the record of an interrupt. Older deliveries are omitted, with a note.
pub const RECORD_DELIVERIES: usize = 200;
/// Maximum number of characters of a task in lists and on cards. A longer task is truncated; the input of the run
/// contains the complete task.
pub const TASK_CHARS: usize = 300;
/// Number of events that are read from the journal at once.
pub const READ_EVENTS: usize = 64;

/// Maximum number of subtasks of a draft plan for which the server computes a layout. A draft with more subtasks is
/// refused with `invalid_request`.
pub const LAYOUT_SUBTASKS: usize = 200;

/// Maximum number of unauthenticated connections. The server lowers this maximum to a quarter of the open files that
/// the system allows. A new connection beyond the maximum closes the oldest connection.
pub const UNAUTHENTICATED_CONNECTIONS: usize = 1_024;
/// Maximum number of connections of agents. The server lowers this maximum to half of the open files that the system
/// allows. A connection beyond the maximum is refused with `too_many_connections` (429; WebSocket: 4429).
pub const AGENT_CONNECTIONS: usize = 10_000;
/// Default of `--agent-requests`: average number of requests and frames of an agent per second. Requests beyond this
/// limit are refused with `too_many_requests`.
pub const AGENT_REQUESTS: u32 = 200;
/// Maximum burst of an agent's requests, in seconds: the number of requests that the average rate allows in this time.
/// Requests beyond this limit are refused with `too_many_requests`.
pub const AGENT_BURST_SECONDS: u32 = 5;
/// Request rate of all agents together, as a multiple of the rate of one agent. Requests beyond this limit are
/// refused with `too_many_requests`.
pub const AGENT_SHARES: u32 = 5;
/// Maximum number of agents that may exceed their average rate at the same time. A request of an additional agent is
/// refused with `too_many_requests`.
pub const RATED_AGENTS: usize = 4_096;

/// Default of `--sign-in-rate`: number of sign-in requests from one address per minute. Requests beyond this limit are
/// refused with `too_many_requests`.
pub const SIGN_IN_REQUESTS: u32 = 120;
/// Default of `--decision-rate`: number of decisions of one principal per minute. Decisions beyond this limit are
/// refused with `too_many_requests`.
pub const DECISIONS: u32 = 6_000;
/// Maximum number of addresses and principals for which request rates are stored. Beyond this maximum, the least used
/// rate is deleted.
pub const RATED: usize = 10_000;

/// Maximum number of consecutive frames that an agent may send over a WebSocket above its rate. After more frames, the
/// socket is closed (4429).
pub const OVER_RATE_FRAMES: u32 = 100;

/// Maximum number of open event streams and WebSocket connections. A stream beyond this maximum is refused with
/// `too_many_streams` (429).
pub const STREAMS: u32 = 20_000;
/// Maximum number of concurrent long polls. A long poll beyond this maximum is refused with `too_many_streams` (429).
pub const POLLS: usize = 10_000;
/// Maximum `wait` of a long poll, in seconds. A longer `wait` is refused with `invalid_query` (400).
pub const POLL_SECONDS: u16 = 60;
/// Maximum number of recent events in memory, shared by all readers. Readers that are further behind read the journal.
pub const RECENT_EVENTS: usize = 1_024;
/// Maximum number of bytes of the recent events in memory, as encoded in the journal. Readers that are further behind
/// read the journal.
pub const RECENT_BYTES: usize = 8 * 1024 * 1024;
/// Maximum number of unread frames of a WebSocket. Beyond this maximum, the server waits for the reader, at most
/// `patience_time`.
pub const SOCKET_FRAMES: usize = 64;
/// Reconnection delay that the server sends to the reader of a stream.
pub const RETRY: Duration = Duration::from_secs(1);
/// Maximum number of runs for which the server caches who is allowed to see them. For other runs, this is read again.
pub const VISIBLE_RUNS: usize = 4_096;
/// Maximum number of events that are read to fill one page. `next_cursor` continues with the next events; responses of
/// edges contain the newest events, with `truncated`.
pub const SCANNED_EVENTS: usize = 10_000;

/// Maximum number of bytes of a frame of a WebSocket client. With a larger frame, the socket is closed (1009).
pub const FRAME_BYTES: usize = 1024 * 1024;
/// Maximum number of bytes that are read of a frame that is too large, so that the client receives the error. If the
/// frame is larger, the socket is closed.
pub const FRAME_READ_BYTES: usize = 4 * FRAME_BYTES;
/// Number of bytes of the read buffer of each WebSocket.
pub const READ_BUFFER_BYTES: usize = 4 * 1024;
/// Number of bytes of small frames that a WebSocket collects before it sends them.
pub const WRITE_BUFFER_BYTES: usize = 16 * 1024;
/// Maximum number of subscriptions of one WebSocket. A subscription beyond this maximum is answered with an error
/// frame.
pub const SUBSCRIPTIONS: usize = 64;
/// Maximum number of unread responses of one WebSocket. Beyond this maximum, the server reads no more frames from the
/// client.
pub const ANSWERS: usize = 64;
/// Time limit for the closing frames of a WebSocket. After this time, the connection is closed.
pub const GOODBYE_TIME: Duration = Duration::from_secs(3);

/// Maximum number of unused login links. A new link beyond this maximum replaces the oldest link.
pub const LOGIN_CODES: usize = 1_000;
/// Maximum number of unused login links of one person. A new link beyond this maximum replaces the person's oldest
/// link.
pub const LOGIN_CODES_OF_PERSON: usize = 10;
/// Validity of a login link. After this time, the link is refused with `login_code_spent` (403).
pub const LOGIN_CODE_MS: u64 = 15 * 60 * 1_000;
/// Maximum number of signed-in browsers and terminals. A new login beyond this maximum signs the oldest of them out.
pub const LOGINS: usize = 1_000;
/// Maximum number of signed-in browsers and terminals of one person. A new login beyond this maximum signs the oldest
/// of them out.
pub const LOGINS_OF_PERSON: usize = 100;
/// Validity of a login. After this time, the browser is signed out.
pub const LOGIN_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// Time limit for a sign-in at a provider. After this time, the sign-in is refused with `sign_in_failed` (403).
pub const SIGN_IN_MS: u64 = 10 * 60 * 1_000;
/// Time limit for a browser that returns from a provider. After this time, the sign-in is refused with
/// `login_code_spent` (403).
pub const SIGN_IN_CODE_MS: u64 = 60 * 1_000;
/// Maximum number of completed sign-ins that are stored, so that none of them can be used twice. Beyond this maximum,
/// the oldest completed sign-in is removed. The provider also rejects a code that is used twice.
pub const SIGN_INS: usize = 10_000;
/// Maximum number of unfinished sign-ins of one browser, such as in several tabs. Beyond this maximum, the earliest one
/// is dropped.
pub const SIGN_INS_OF_BROWSER: usize = 5;
/// Time for which a terminal can request the result of its sign-in again. After this time, the request is refused with
/// `sign_in_failed` (403).
pub const SIGN_IN_TOLD_MS: u64 = 60 * 1_000;
/// Validity of the page that a link in a shared channel opens after a sign-in. After this time, the page is refused
/// with `link_expired` (410): open the link again.
pub const SIGNED_IN_PAGE_MS: u64 = 3_600 * 1_000;
/// Maximum number of bytes of the path that a browser opens after a sign-in. For a longer path, the browser opens the
/// inbox.
pub const SIGN_IN_TO_BYTES: usize = 1_000;

/// Default validity of a decision link. After this time, the link is refused with `link_expired` (410).
pub const LINK_DEFAULT_MS: u64 = 7 * 24 * 3_600 * 1_000;
/// Maximum validity of a decision link. A longer validity is refused with `invalid_request`.
pub const LINK_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// Time limit for open requests and running commands of a stopping server. After this time, requests are cut off, and
/// commands end with `unknown_outcome`.
pub const STOP_TIME: Duration = Duration::from_secs(8);

/// Maximum `expires_in_ms` of an agent's interrupt: ten years. A longer time is refused with `invalid_request`.
pub const EXPIRY_MS: u64 = 10 * 366 * 24 * 3_600 * 1_000;
/// Maximum number of bytes of the id of a person, a name or a pattern in a request. A longer value is refused with
/// `invalid_request`.
pub const LINE_BYTES: usize = 200;
/// Maximum number of runs that a session lists. Older runs appear only in the list of runs.
pub const SESSION_RUNS: usize = 50;

/// Maximum number of runs that are listed for a node. Of further runs, only the number is reported.
pub const NODE_RUNS: usize = 100;
/// Maximum number of leases (records of which node executes a run) that are read to list the runs of nodes. Runs of
/// further leases are not listed.
pub const NODE_LEASES: usize = 10_000;

/// Maximum number of files in the directory of `--workflows`. With more files, the server does not start.
pub const WORKFLOW_FILES: usize = 1_000;

/// Maximum number of attempts to release the calls that a disconnected client has claimed. After these attempts, the
/// calls stay claimed until another client claims them.
pub const LET_GO_ATTEMPTS: usize = 60;
/// Delay between two attempts to release the calls that a disconnected client has claimed.
pub const LET_GO_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of open interrupts that are examined when a person is removed. With more interrupts, `more` is
/// `true`.
pub const LEFT_INTERRUPTS: usize = 100;

/// Maximum number of open interrupts, of runs of each status, and of deliveries that `/metrics` counts. If more
/// exist, the gauge stays near this value.
pub const METRICS_ROWS: usize = 10_000;
/// Number of rows that `/metrics` reads at once.
pub const METRICS_PAGE: usize = 1_000;

/// Maximum number of concurrent trials of commands of external agents. Further trials wait. If the time of a trial ends
/// before it starts, a person is asked about the call without a trial.
pub const TRIALS: usize = 4;
/// Maximum `timeout_ms` of a trial. A request with a longer time is refused with `invalid_request`.
pub const TRIAL_MS: u64 = 150_000;
/// Time for which an agent may read the contents of the approved changes, counted from the use of the approval. After
/// this time, the request is rejected with `not_approved`.
pub const RELEASED_MS: u64 = 15 * 60 * 1_000;
