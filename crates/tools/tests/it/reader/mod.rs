//! The reader of command lines against real shells: whatever it calls reading changes nothing when it really runs, and
//! starts no program that it did not name.
//!
//! `lines.rs` makes lines of what the tables know and of what an attacker would put beside it; `scratch.rs` runs them
//! in a workspace of hostile names. A few hundred lines of a fixed seed are played with the other tests; many more with
//! `cargo xtask reader`.

mod lines;
mod scratch;

use holdshort_core::gate::command::parse;

use self::lines::Lines;
use self::scratch::Scratch;

/// Lines played with the other tests.
const LINES: usize = 150;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

/// `HOLDSHORT_READER_LINES` and `HOLDSHORT_READER_SEED` play others.
#[test]
fn what_the_reader_calls_reading_changes_nothing() {
    let seed = number("HOLDSHORT_READER_SEED", 7);
    let many = number("HOLDSHORT_READER_LINES", LINES);
    let scratch = Scratch::new();
    let mut lines = Lines::new(seed as u64);
    let (mut read, mut wrong) = (0_usize, Vec::new());
    for _ in 0..many {
        let line = lines.next_line();
        let command = parse(&line);
        if !command.is_read_only() {
            continue;
        }
        read += 1;
        for shell in ["bash", "dash"] {
            if let Some(did) = scratch.play(shell, &line, &command) {
                wrong.push(format!("{shell}: {line:?}: {did}"));
            }
        }
        if wrong.len() > 20 {
            break;
        }
    }
    assert!(read > 0, "no line counts as reading");
    if many != LINES {
        let traced =
            if scratch.traces { "changes and programs" } else { "changes alone: strace can not be used" };
        eprintln!(
            "{many} lines of seed {seed}: {read} are called reading and were run in both shells, watched for {traced}"
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
