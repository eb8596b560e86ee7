//! What any bytes from outside must hold against: the bodies of the fuzz targets.
//!
//! Each takes bytes and asserts: no panic, what is read is written and read again as the same, what is refused is
//! refused with a code. `fuzz/` runs them under libFuzzer; a test runs them on a corpus and on what `mutate` makes
//! of it.

mod casework;
mod command;
mod cursor;
mod decision;
mod edge;
mod event;
mod file;
mod frame;
mod mutate;
mod training;

pub use mutate::mutations;

/// A target: anything may come in.
pub type Target = fn(&[u8]);

/// Every target, by the name of its folder in `fuzz/corpus`.
pub const TARGETS: [(&str, Target); 10] = [
    ("command", command::command),
    ("decision", decision::decision),
    ("workflow", file::workflow),
    ("rehearsal", file::rehearsal),
    ("frame", frame::frame),
    ("event", event::event),
    ("cursor", cursor::cursor),
    ("edge", edge::edge),
    ("training", training::training),
    ("casework", casework::casework),
];

/// The target of this name, for binaries of one target each.
pub fn target(name: &str) -> Target {
    let found = TARGETS.iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("there is no target `{name}`")).1
}

/// A refusal that a client can act on.
fn is_coded(problem: &holdshort_protocol::Problem) {
    assert!((400..500).contains(&problem.status), "{problem:?}");
    assert!(!problem.detail.is_empty() && !problem.title.is_empty(), "{problem:?}");
    assert_eq!(problem.status, problem.code.status());
    for error in &problem.errors {
        assert!(error.pointer.is_empty() || error.pointer.starts_with('/'), "{problem:?}");
        assert!(!error.message.is_empty(), "{problem:?}");
    }
}
