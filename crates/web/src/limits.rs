//! Named limits of what is served. Each is a typed error when it is hit.

use std::time::Duration;

/// The time in which the headers of a request come: of the first from the connection on, of each other from the
/// answer before it. So it is also how long a connection may be idle.
pub const HEADERS_TIME: Duration = Duration::from_secs(10);
/// Between two signs of life on a silent stream: proxies close what is silent for half a minute.
pub const PING_TIME: Duration = Duration::from_secs(15);
/// How long the client of a socket may give none: three of its answers to pings may be lost.
pub const SILENCE_TIME: Duration = Duration::from_mins(1);
/// The time in which the client of a socket says who it is.
pub const HELLO_TIME: Duration = Duration::from_secs(10);
/// How long a stream's writer waits for its reader.
pub const PATIENCE_TIME: Duration = Duration::from_secs(30);

/// A file of certificates, or of a key.
pub const CERTIFICATE_BYTES: u64 = 256 * 1024;
/// Between two looks at whether they have changed.
pub const CERTIFICATE_TIME: Duration = Duration::from_secs(5);

/// Between two looks in the database for what is secret of a webhook, where it was not there.
pub const WEBHOOK_TIME: Duration = Duration::from_secs(30);

/// How often the resolution of what an agent of others asked is told where it said.
pub const CALLBACK_ATTEMPTS: u64 = 8;
/// From the first attempt to the second; each later wait is four times as long: seven hours and a half in all.
pub const CALLBACK_RETRY_MS: u64 = 5_000;
/// The longest that one attempt takes.
pub const CALLBACK_TIMEOUT_MS: u64 = 10_000;
/// Between two looks at what is kept beside the journal of callbacks, webhooks and browsers.
pub const KEPT_SWEEP_TIME: Duration = Duration::from_hours(1);
/// How long one is kept that the journal does not know: its event is written in the next moment, or never.
pub const KEPT_UNKNOWN_MS: u64 = 3_600 * 1_000;

/// A request body.
pub const BODY_BYTES: usize = 1024 * 1024;
/// What is read and thrown away of a body that is too large, so that its sender gets to read why.
pub const DRAINED_BYTES: usize = 64 * 1024 * 1024;
/// The time in which a body must arrive.
pub const BODY_TIME: Duration = Duration::from_secs(30);

/// The id of a request that its caller brings; a longer one is replaced.
pub const REQUEST_ID_CHARS: usize = 128;

/// An idempotency key.
pub const IDEMPOTENCY_KEY_BYTES: usize = 255;

/// Items of one page.
pub const PAGE: u16 = 200;
/// Items of one page where none are asked for.
pub const PAGE_DEFAULT: u16 = 50;
/// A page is cut where it grows beyond this; it always holds one item.
pub const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Deliveries of an interrupt that its record holds.
pub const RECORD_DELIVERIES: usize = 200;
/// Characters of a task where it names a run, such as in a row of the inbox. The whole stands in the run's input.
pub const TASK_CHARS: usize = 300;
/// Events read from the store at once.
pub const READ_EVENTS: usize = 64;

/// Subtasks of a draft that is laid out.
pub const LAYOUT_SUBTASKS: usize = 200;

/// Connections whose client has not said who it is, at once; a quarter of the descriptors where that is less. The
/// oldest is evicted.
pub const UNAUTHENTICATED_CONNECTIONS: usize = 1_024;
/// Connections of agents at once; half of the descriptors where that is less. One half of the streams stays with people.
pub const AGENT_CONNECTIONS: usize = 10_000;
/// Requests a second that each agent may make, on average, where the server is started with nothing else: far more
/// than agents that ask people have to say.
pub const AGENT_REQUESTS: u32 = 200;
/// Requests that it may make at once, in seconds of that average.
pub const AGENT_BURST_SECONDS: u32 = 5;
/// All agents together may make so many times what one may.
pub const AGENT_SHARES: u32 = 5;
/// Agents whose rates are remembered at once; those that rest are forgotten.
pub const RATED_AGENTS: usize = 4_096;

/// Requests of signing in that come from one address in a minute, where nothing else is configured.
pub const SIGN_IN_REQUESTS: u32 = 120;
/// Decisions of one principal in a minute, where nothing else is configured.
pub const DECISIONS: u32 = 6_000;
/// Addresses and principals whose rates are remembered at once; those that rest are forgotten first.
pub const RATED: usize = 10_000;

/// Frames in a row that a socket's agent is told are too many before the socket is closed: one that waits as it is told
/// never gets there.
pub const OVER_RATE_FRAMES: u32 = 100;

/// Event streams and sockets open at once.
pub const STREAMS: u32 = 20_000;
/// Long polls waiting at once.
pub const POLLS: usize = 10_000;
/// The longest that a long poll waits.
pub const POLL_SECONDS: u16 = 60;
/// The last events, which those who follow everything share: a follower that is further behind reads the journal
/// by itself.
pub const RECENT_EVENTS: usize = 1_024;
/// Their bytes as the journal has them; in memory they take up to three times as much.
pub const RECENT_BYTES: usize = 8 * 1024 * 1024;
/// Frames that a socket's reader may be behind before its writer waits for it.
pub const SOCKET_FRAMES: usize = 64;
/// What a stream's reader is told to wait before it connects again.
pub const RETRY: Duration = Duration::from_secs(1);
/// Runs of which is remembered who may see them.
pub const SIGHT_RUNS: usize = 4_096;
/// Events that one page looks at: most of them may not be the caller's to see.
pub const SCANNED_EVENTS: usize = 10_000;

/// A frame of a socket's client.
pub const FRAME_BYTES: usize = 1024 * 1024;
/// What is read of a frame that is too large, so that its sender gets to read why.
pub const FRAME_READ_BYTES: usize = 4 * FRAME_BYTES;
/// What each socket holds to read into, also while it is silent.
pub const READ_BUFFER_BYTES: usize = 4 * 1024;
/// What a socket gathers of small frames before it writes them out.
pub const WRITE_BUFFER_BYTES: usize = 16 * 1024;
/// Subscriptions of one socket.
pub const SUBSCRIPTIONS: usize = 64;
/// Answers that a socket's client may be behind before nothing more is taken from it.
pub const ANSWERS: usize = 64;
/// How long a socket that ends has for its goodbye.
pub const GOODBYE_TIME: Duration = Duration::from_secs(3);

/// Login links that can be redeemed at once; the oldest goes.
pub const LOGIN_CODES: usize = 1_000;
/// Those of one person; their oldest goes.
pub const LOGIN_CODES_OF_PERSON: usize = 10;
/// How long a login link can be redeemed: 15 minutes.
pub const LOGIN_CODE_MS: u64 = 15 * 60 * 1_000;
/// Browsers that are signed in at once; the oldest goes.
pub const LOGINS: usize = 1_000;
/// Those of one person; their oldest goes.
pub const LOGINS_OF_PERSON: usize = 100;
/// How long a login lasts: 30 days.
pub const LOGIN_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// How long somebody has to sign in at the provider: 10 minutes.
pub const SIGN_IN_MS: u64 = 10 * 60 * 1_000;
/// How long the browser that comes back from there has to redeem what it is given: a minute.
pub const SIGN_IN_CODE_MS: u64 = 60 * 1_000;
/// Sign-ins that are remembered as done, so that none is done twice. The provider takes no code twice, either.
pub const SIGN_INS: usize = 10_000;
/// Sign-ins that one browser has begun and not brought to an end, such as in several tabs.
pub const SIGN_INS_OF_BROWSER: usize = 5;
/// How long a terminal that signed in is told so again, if it missed it: a minute.
pub const SIGN_IN_TOLD_MS: u64 = 60 * 1_000;
/// How long the page is good for that a sign-in led to: an hour.
pub const SIGNED_IN_PAGE_MS: u64 = 3_600 * 1_000;
/// A place of this server that somebody goes to after a sign-in.
pub const SIGN_IN_TO_BYTES: usize = 1_000;

/// How long a decision link is good for where nothing is said: 7 days.
pub const LINK_DEFAULT_MS: u64 = 7 * 24 * 3_600 * 1_000;
/// The longest that a decision link can be good for: 30 days.
pub const LINK_MS: u64 = 30 * 24 * 3_600 * 1_000;

/// How long a stopping server waits for requests that are under way, while running tools have as long. Container
/// runtimes kill a process ten seconds after they asked it to stop.
pub const STOP_TIME: Duration = Duration::from_secs(8);

/// Ten years: an expiry beyond it is a mistake, and far beyond it no time at all.
pub const EXPIRY_MS: u64 = 10 * 366 * 24 * 3_600 * 1_000;
/// An id of a person, a name, a pattern.
pub const LINE_BYTES: usize = 200;
/// Newest runs that a session names.
pub const SESSION_RUNS: usize = 50;

/// Runs that are named with the node that drives them.
pub const NODE_RUNS: usize = 100;
/// Leases that are read for that.
pub const NODE_LEASES: usize = 10_000;

/// Files of the folder of workflows.
pub const WORKFLOW_FILES: usize = 1_000;

/// How often the calls of a client that left are tried to be let go, and the time between two tries.
pub const LET_GO_ATTEMPTS: usize = 60;
pub const LET_GO_PAUSE: Duration = Duration::from_secs(1);

/// Open interrupts that are looked at where somebody is removed whom they name.
pub const LEFT_INTERRUPTS: usize = 100;

/// Rows of each list that `/metrics` counts at most.
pub const METRICS_ROWS: usize = 10_000;
/// Of these read at once.
pub const METRICS_PAGE: usize = 1_000;
