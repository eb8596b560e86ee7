//! Named limits of traces. Each has a row in `docs/reference/limits.md`.

use std::time::Duration;

/// Runs that have ended and wait to be told to a collector.
pub(crate) const TRACES_WAITING: usize = 10_000;
/// Spans of one run.
pub(crate) const TRACE_SPANS: usize = 20_000;
/// Runs that are told at once.
pub(crate) const TRACES_AT_ONCE: usize = 16;
/// Spans in one request.
pub(crate) const EXPORT_SPANS: usize = 2_000;
/// What is waited for one request.
pub(crate) const EXPORT_TIME: Duration = Duration::from_secs(10);
/// What is read of an answer.
pub(crate) const EXPORT_ANSWER_BYTES: usize = 64 * 1024;
/// The first pause after a request that failed; it doubles each time.
pub(crate) const EXPORT_PAUSE: Duration = Duration::from_secs(1);
/// The longest such pause.
pub(crate) const EXPORT_PAUSE_MOST: Duration = Duration::from_mins(2);
/// What a server that stops waits for traces to be told.
pub(crate) const EXPORT_LAST_TIME: Duration = Duration::from_secs(1);
/// Characters of a name that a trace holds, such as that of a workflow.
pub(crate) const TRACE_NAME_CHARS: usize = 120;
