//! `holdshort` that ends itself: `std::process::abort` right after the commit that `HOLDSHORT_ABORT_AFTER`
//! counts to, before anybody hears of it; or panics in the writer, where `HOLDSHORT_PANIC_AFTER` counts; or aborts in
//! the commit of a changeset, once `HOLDSHORT_ABORT_IN_CHANGESET` paths of it are changed. Rehearsals play at once.
//! For tests only.

use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

static ABORT_AFTER: OnceLock<u64> = OnceLock::new();
static PANIC_AFTER: OnceLock<u64> = OnceLock::new();
static ABORT_IN_CHANGESET: OnceLock<u64> = OnceLock::new();
static COMMITS: AtomicU64 = AtomicU64::new(0);

fn after_commit() {
    let n = COMMITS.fetch_add(1, Ordering::SeqCst) + 1;
    if ABORT_AFTER.get() == Some(&n) {
        std::process::abort();
    }
    assert!(PANIC_AFTER.get() != Some(&n), "commit {n} was the last one");
}

fn between_files(changed: usize) {
    if ABORT_IN_CHANGESET.get() == Some(&(changed as u64)) {
        std::process::abort();
    }
}

/// A number of the environment.
fn set(count: &OnceLock<u64>, name: &str) {
    if let Some(n) = std::env::var(name).ok().and_then(|text| text.parse().ok()) {
        count.get_or_init(|| n);
    }
}

fn main() -> ExitCode {
    set(&ABORT_AFTER, "HOLDSHORT_ABORT_AFTER");
    set(&PANIC_AFTER, "HOLDSHORT_PANIC_AFTER");
    set(&ABORT_IN_CHANGESET, "HOLDSHORT_ABORT_IN_CHANGESET");
    let mut hooks = holdshort_cli::Hooks::default();
    hooks.store.after_commit = Some(after_commit);
    hooks.rehearsing.word_ms = Some(0);
    hooks.rehearsing.commit_step = Some(between_files);
    holdshort_cli::main(std::env::args_os(), holdshort::PACKS, hooks)
}
