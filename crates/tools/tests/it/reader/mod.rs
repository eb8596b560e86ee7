//! The reader of command lines against real shells and a second parser: whatever it calls reading changes nothing when
//! it really runs, starts no program that it did not name, and holds no command that it did not see.
//!
//! `lines.rs` makes lines of what the tables know and of what an attacker would put beside it; `scratch.rs` runs them
//! in a workspace of hostile names, and `trace.rs` reads which programs started; `second.rs` asks the second parser. A
//! few hundred lines of a fixed seed are played with the other tests; many more with `cargo xtask reader`.

mod lines;
mod scratch;
mod second;
mod trace;

use std::collections::HashSet;

use holdshort_command::{Command, parse};

use self::lines::Lines;
use self::scratch::Scratch;

/// Lines that are played in shells with the other tests.
const PLAYED: usize = 150;

/// Lines that the second parser reads with the other tests: nothing runs, so they may be more.
const COMPARED: usize = 3000;

/// Lines that run in one shell, one after another.
const TOGETHER: usize = 64;

/// How many lines a failure names.
const TOLD: usize = 20;

/// A line that was called reading.
struct Line {
    text: String,
    command: Command,
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Those of `many` lines that are called reading, each once. `HOLDSHORT_READER_LINES` and `HOLDSHORT_READER_SEED` make
/// others.
fn reading(many: usize) -> (Vec<Line>, String) {
    let seed = number("HOLDSHORT_READER_SEED").unwrap_or(7);
    let many = number("HOLDSHORT_READER_LINES").unwrap_or(many);
    let mut lines = Lines::new(seed as u64);
    let mut met = HashSet::new();
    let reading: Vec<Line> = std::iter::repeat_with(|| lines.next_line())
        .take(many)
        .filter(|text| met.insert(text.clone()))
        .map(|text| Line { command: parse(&text), text })
        .filter(|line| line.command.is_read_only())
        .collect();
    assert!(!reading.is_empty(), "no line counts as reading");
    let told = format!("{many} lines of seed {seed}, {} of them are called reading", reading.len());
    (reading, told)
}

#[test]
fn what_the_reader_calls_reading_changes_nothing() {
    let (lines, told) = reading(PLAYED);
    // A core each: most of the time goes into starting programs.
    let jobs = number("HOLDSHORT_READER_JOBS").unwrap_or(1);
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let share = lines.len().div_ceil(jobs);
        let threads: Vec<_> = lines.chunks(share).map(|lines| scope.spawn(|| play(lines))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("lines are played")).collect()
    });
    eprintln!("{told}; each ran in bash and dash, watched for changes and programs");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn play(lines: &[Line]) -> Vec<String> {
    let scratch = Scratch::new();
    let mut wrong = Vec::new();
    for together in lines.chunks(TOGETHER) {
        for shell in ["bash", "dash"] {
            wrong.extend(scratch.play(shell, together));
        }
        if wrong.len() > TOLD {
            break;
        }
    }
    wrong
}

#[test]
fn a_second_parser_finds_no_other_command() {
    let (mut lines, told) = reading(COMPARED);
    // The reader names no parts for certain where the shell computes.
    lines.retain(|line| !line.command.computes_and_reads);
    let understood = lines.iter().filter(|line| second::understands(&line.text)).count();
    eprintln!("{told}; the second parser understands {understood}");
    assert!(
        understood * 10 > lines.len() * 9,
        "{told}, and the second parser understands {understood} alone"
    );
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            Some(format!("{:?}: {}", line.text, second::contradiction(&line.text, &line.command)?))
        })
        .take(TOLD)
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
