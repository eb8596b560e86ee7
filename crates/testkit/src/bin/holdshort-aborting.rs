//! The program `holdshort` with an addition: it crashes at a point that a test chooses. For tests only.
//!
//! Three environment variables choose this point. With `HOLDSHORT_ABORT_AFTER=N`, the process aborts directly after
//! commit number N, before any caller gets a response. With `HOLDSHORT_PANIC_AFTER=N`, the writer thread panics at
//! commit number N. With `HOLDSHORT_ABORT_IN_CHANGESET=N`, the process aborts while it commits a changeset, after N
//! paths were changed.
//!
//! A trace event of the program marks each of these points. The thread that emits a trace event also handles it, and
//! only then continues.

use std::io::stderr;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};

use holdshort_testkit::trace::{CHANGESET_PATH_CHANGED, JOURNAL_COMMITTED, number};
use tracing::{Event, Subscriber};
use tracing_subscriber::filter::{EnvFilter, LevelFilter, Targets};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

struct AbortPlan {
    abort_after: Option<u64>,
    panic_after: Option<u64>,
    abort_in_changeset: Option<u64>,
    commits: AtomicU64,
}

impl AbortPlan {
    fn from_environment() -> Self {
        let set = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        Self {
            abort_after: set("HOLDSHORT_ABORT_AFTER"),
            panic_after: set("HOLDSHORT_PANIC_AFTER"),
            abort_in_changeset: set("HOLDSHORT_ABORT_IN_CHANGESET"),
            commits: AtomicU64::new(0),
        }
    }
}

impl<S: Subscriber> Layer<S> for AbortPlan {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        match event.metadata().name() {
            JOURNAL_COMMITTED => {
                let n = self.commits.fetch_add(1, Ordering::SeqCst) + 1;
                if self.abort_after == Some(n) {
                    std::process::abort();
                }
                assert!(self.panic_after != Some(n), "commit {n} was the last one");
            }
            CHANGESET_PATH_CHANGED
                if self.abort_in_changeset.is_some_and(|n| number(event, "changed") == Some(n)) =>
            {
                std::process::abort();
            }
            _ => {}
        }
    }
}

/// Replaces the logger of `holdshort` by one that prints the same lines, and that crashes the program at the point in
/// `plan`.
fn follow(plan: AbortPlan) {
    let targets = Targets::new()
        .with_target("holdshort_store::sqlite::writer", LevelFilter::TRACE)
        .with_target("holdshort_tools::changeset", LevelFilter::TRACE);
    let filter = EnvFilter::try_from_env("HOLDSHORT_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
    let log = tracing_subscriber::fmt::layer().with_writer(stderr).with_filter(filter);
    tracing_subscriber::registry().with(log).with(plan.with_filter(targets)).init();
}

fn main() -> ExitCode {
    let plan = AbortPlan::from_environment();
    if plan.abort_after.or(plan.panic_after).or(plan.abort_in_changeset).is_some() {
        follow(plan);
    }
    holdshort_cli::main(std::env::args_os(), holdshort::PACKS)
}
