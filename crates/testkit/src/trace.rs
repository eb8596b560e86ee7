//! Names of trace events of the program. A trace event marks a moment of a commit that neither a response nor a file
//! shows. A test can act at this moment.

use tracing::Event;
use tracing::field::{Field, Visit};

/// Trace event that the SQLite writer emits after it has committed a group of appends and before it responds.
pub const JOURNAL_COMMITTED: &str = "journal_committed";
/// Trace event after another path of a changeset was written. The field `changed` has the number of paths that this
/// commit has changed.
pub const CHANGESET_PATH_CHANGED: &str = "changeset_path_changed";

/// Returns the number in this field of a trace event.
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
