//! Named limits of traces. `docs/reference/limits.md` is generated from the comments.

use std::time::Duration;

/// Maximum ended runs that wait for their export. Beyond this number, the oldest run is dropped (`too_many`).
pub(crate) const TRACES_WAITING: usize = 10_000;
/// Maximum spans of one run. `holdshort.spans_left_out` has the number of omitted spans.
pub(crate) const TRACE_SPANS: usize = 20_000;
/// Maximum runs in one export. The next export takes the remaining runs.
pub(crate) const TRACES_AT_ONCE: usize = 16;
/// Maximum spans in one request. An export with more spans uses several requests.
pub(crate) const EXPORT_SPANS: usize = 2_000;
/// Time limit of one request to the collector. After this time, the request is retried.
pub(crate) const EXPORT_TIME: Duration = Duration::from_secs(10);
/// Maximum bytes of the collector's response. The rest is not read.
pub(crate) const EXPORT_ANSWER_BYTES: usize = 64 * 1024;
/// Delay after a failed request to the collector. Each further failure doubles the delay.
pub(crate) const EXPORT_PAUSE: Duration = Duration::from_secs(1);
/// Maximum delay after a failed request to the collector. A longer delay is shortened.
pub(crate) const EXPORT_PAUSE_MOST: Duration = Duration::from_mins(2);
/// Time limit of the export when a server stops. The remaining runs are exported after the next start of the server.
pub(crate) const EXPORT_LAST_TIME: Duration = Duration::from_secs(1);
/// Maximum characters of a name in a trace. A longer name is cut.
pub(crate) const TRACE_NAME_CHARS: usize = 120;
