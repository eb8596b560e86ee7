//! Named limits of traces. `docs/reference/limits.md` is generated from these comments.

use std::time::Duration;

/// Maximum ended runs that wait for their export. If more runs wait, the oldest one is dropped (`too_many`).
pub(crate) const TRACES_WAITING: usize = 10_000;
/// Maximum spans of one run. The attribute `holdshort.spans_left_out` states how many spans were left out.
pub(crate) const TRACE_SPANS: usize = 20_000;
/// Maximum runs in one export. All other runs are in the next export.
pub(crate) const TRACES_AT_ONCE: usize = 16;
/// Maximum spans in one request. An export with more spans uses several requests.
pub(crate) const EXPORT_SPANS: usize = 2_000;
/// Time limit of one request to the collector. After this time, the request is sent again.
pub(crate) const EXPORT_TIME: Duration = Duration::from_secs(10);
/// Maximum bytes of the collector's response. The rest of the response is not read.
pub(crate) const EXPORT_ANSWER_BYTES: usize = 64 * 1024;
/// Delay after a failed request to the collector. Each further failure doubles the delay.
pub(crate) const EXPORT_PAUSE: Duration = Duration::from_secs(1);
/// Maximum delay after failed requests to the collector. The doubled delay never exceeds it.
pub(crate) const EXPORT_PAUSE_MOST: Duration = Duration::from_mins(2);
/// Time limit for the last export when a server stops. Runs that are not exported then are exported after the next
/// start of the server.
pub(crate) const EXPORT_LAST_TIME: Duration = Duration::from_secs(1);
/// Maximum characters of a name in a trace. A longer name is cut.
pub(crate) const TRACE_NAME_CHARS: usize = 120;
