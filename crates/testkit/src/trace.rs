//! Names of the trace events that the program emits for tests. A trace event marks a moment in a commit that no
//! response and no file shows. Therefore a test can act exactly at this moment.

use tracing::Event;
use tracing::field::{Field, Visit};

/// Trace event of the SQLite writer. The event is emitted after a group of appends was committed and before the replies
/// are sent.
pub const JOURNAL_COMMITTED: &str = "journal_committed";
/// Trace event that is emitted after each path of a changeset was written. The field `changed` states how many paths
/// the commit of the changeset has changed so far.
pub const CHANGESET_PATH_CHANGED: &str = "changeset_path_changed";

/// Returns the number that a field of a trace event contains.
pub fn number(event: &Event<'_>, name: &str) -> Option<u64> {
    let mut found = Number { name, value: None };
    event.record(&mut found);
    found.value
}

struct Number<'a> {
    name: &'a str,
    value: Option<u64>,
}

impl Visit for Number<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == self.name {
            self.value = Some(value);
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
