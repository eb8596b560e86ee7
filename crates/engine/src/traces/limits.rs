//! Named limits of traces. Each has a row in `docs/reference/limits.md`.

use std::time::Duration;

/// Ended runs that wait for their export.
pub(crate) const TRACES_WAITING: usize = 10_000;
/// Spans of one run.
pub(crate) const TRACE_SPANS: usize = 20_000;
/// Runs that are exported at once.
pub(crate) const TRACES_AT_ONCE: usize = 16;
/// Spans in one request.
pub(crate) const EXPORT_SPANS: usize = 2_000;
/// Time-out of one request.
pub(crate) const EXPORT_TIME: Duration = Duration::from_secs(10);
/// Maximum number of bytes read of a response.
pub(crate) const EXPORT_ANSWER_BYTES: usize = 64 * 1024;
/// First pause after a failed request; it doubles each time.
pub(crate) const EXPORT_PAUSE: Duration = Duration::from_secs(1);
/// Longest such pause.
pub(crate) const EXPORT_PAUSE_MOST: Duration = Duration::from_mins(2);
/// Time that a stopping server waits for the export of traces.
pub(crate) const EXPORT_LAST_TIME: Duration = Duration::from_secs(1);
/// Maximum number of characters of a name in a trace, such as that of a workflow.
pub(crate) const TRACE_NAME_CHARS: usize = 120;
