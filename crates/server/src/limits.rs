//! Named limits of the server. Each is a typed error when it is hit.

use std::time::Duration;

/// A request body.
pub(crate) const BODY_BYTES: usize = 1024 * 1024;
/// What is read and thrown away of a body that is too large, so that its sender gets to read why.
pub(crate) const DRAINED_BYTES: usize = 64 * 1024 * 1024;
/// The time in which a body must arrive.
pub(crate) const BODY_TIME: Duration = Duration::from_secs(30);

/// An idempotency key.
pub(crate) const IDEMPOTENCY_KEY_BYTES: usize = 255;

/// Items of one page.
pub(crate) const PAGE: u16 = 200;
/// Items of one page where none are asked for.
pub(crate) const PAGE_DEFAULT: u16 = 50;
/// A page is cut where it grows beyond this; it always holds one item.
pub(crate) const PAGE_BYTES: usize = 4 * 1024 * 1024;
/// Events read from the store at once.
pub(crate) const READ_EVENTS: usize = 64;

/// Event streams open at once.
pub(crate) const STREAMS: usize = 1_000;
/// Long polls waiting at once.
pub(crate) const POLLS: usize = 10_000;
/// The longest that a long poll waits.
pub(crate) const POLL_SECONDS: u16 = 60;
/// Frames that a stream's reader may be behind before its writer waits for it.
pub(crate) const STREAM_FRAMES: usize = 64;
/// How long a stream's writer waits for its reader. Then the stream ends; the reader comes back with its cursor.
pub(crate) const STREAM_PATIENCE: Duration = Duration::from_secs(30);
/// Between two signs of life on a silent stream.
pub(crate) const PING: Duration = Duration::from_secs(15);
/// What a stream's reader is told to wait before it connects again.
pub(crate) const RETRY: Duration = Duration::from_secs(1);

/// How long a stopping server waits for requests that are under way.
pub(crate) const STOP_TIME: Duration = Duration::from_secs(10);

/// Ten years: an expiry beyond it is a mistake, and far beyond it no time at all.
pub(crate) const EXPIRY_MS: u64 = 10 * 366 * 24 * 3_600 * 1_000;
/// Approvers of one interrupt.
pub(crate) const APPROVERS: usize = 100;
/// An id of a person, a name, a pattern.
pub(crate) const LINE_BYTES: usize = 200;
/// Newest runs that a session names.
pub(crate) const SESSION_RUNS: usize = 50;
