//! The fuzz targets: one for every format in which the program accepts bytes from outside.
//!
//! A fuzz target takes any bytes. A fuzz target asserts three things: nothing panics, each refusal has a code, and a
//! parsed value is the same after it was written and parsed again. The directory `fuzz/` runs the targets under
//! libFuzzer. A test runs them on stored inputs (the corpus), and on random changes of these inputs.

mod command;
mod cursor;
mod decision;
mod edge;
mod event;
mod file;
mod frame;
mod mutate;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

pub use mutate::mutations;

/// A fuzz target, which must accept any bytes.
pub type Target = fn(&[u8]);

/// Number of mutated inputs that are tried for each fuzz target.
const MUTATIONS: u64 = 2_000;

/// All fuzz targets except those of packs. The name of a target is also the name of its directory in `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 8] = [
    ("command", command::command),
    ("decision", decision::decision),
    ("workflow", file::workflow),
    ("rehearsal", file::rehearsal),
    ("frame", frame::frame),
    ("event", event::event),
    ("cursor", cursor::cursor),
    ("edge", edge::edge),
];

/// Returns the fuzz target with this name. Each program of the fuzzer calls this function and runs one target.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no target `{name}`")).1
}

/// Runs a fuzz target on its corpus, and on random changes of the inputs in the corpus. Panics with the first input
/// that fails.
pub fn hold(name: &str, target: Target) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let seeds = corpus(&folder.join("corpus").join(name));
    assert!(seeds.len() >= 5, "{name} has {} seeds", seeds.len());
    // Checks that this target has a libFuzzer program.
    assert!(folder.join("fuzz_targets").join(format!("{name}.rs")).is_file(), "{name}");
    let tries = seeds.iter().cloned().chain(mutations(&seeds, MUTATIONS, 1));
    for (n, bytes) in tries.enumerate() {
        let outcome = catch_unwind(AssertUnwindSafe(|| target(&bytes)));
        assert!(outcome.is_ok(), "{name}, input {n}: {:?}", String::from_utf8_lossy(&bytes));
    }
}

fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let files = fs::read_dir(folder).expect("a corpus").map(|file| file.expect("a file").path());
    let mut files: Vec<_> = files.collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("a file")).collect()
}

/// Asserts that a refusal by the program has a status, a code, and texts from which a client can see what to do.
fn is_coded(problem: &holdshort_protocol::Problem) {
    assert!((400..500).contains(&problem.status), "{problem:?}");
    assert!(!problem.detail.is_empty() && !problem.title.is_empty(), "{problem:?}");
    assert_eq!(problem.status, problem.code.status());
    for error in &problem.errors {
        assert!(error.pointer.is_empty() || error.pointer.starts_with('/'), "{problem:?}");
        assert!(!error.message.is_empty(), "{problem:?}");
    }
}
