//! Runs code of a test between two paths of a commit, in the commit's thread, triggered by the commit's trace events.

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Calls `call` after each path that a commit in `work` changes. The argument is the number of paths that were changed
/// so far.
pub(crate) fn after_each<T>(call: impl Fn(u64) + Send + Sync + 'static, work: impl FnOnce() -> T) -> T {
    tracing::subscriber::with_default(Paths(call), work)
}

struct Paths<F>(F);

impl<F: Fn(u64) + 'static> Subscriber for Paths<F>
where
    Self: Send + Sync,
{
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.name() == "changeset_path_changed"
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Changed(&self.0));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Changed<'a, F>(&'a F);

impl<F: Fn(u64)> Visit for Changed<'_, F> {
    fn record_u64(&mut self, _: &Field, changed: u64) {
        (self.0)(changed);
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
