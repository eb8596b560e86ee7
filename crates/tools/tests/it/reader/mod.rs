//! Tests the parser of command lines, called the reader, against real shells and a second parser. A line that the
//! reader classifies as read-only must change nothing when it runs. It must start no program that the reader did not
//! name, and contain no command that the reader did not find.
//!
//! `lines.rs` generates lines from the tables and from words that an attacker might use. `scratch.rs` runs the lines in
//! a workspace with hostile file names, and `trace.rs` reads which programs were started. `second.rs` asks the second
//! parser. The normal tests use a few hundred lines of a fixed seed; `cargo xtask reader` uses many more.

mod lines;
mod scratch;
mod second;
mod trace;

use std::collections::HashSet;

use holdshort_command::{Command, parse};

use self::lines::Lines;
use self::scratch::Scratch;

/// Number of generated lines that the normal tests run in shells.
const PLAYED: usize = 150;

/// Number of generated lines that the normal tests give to the second parser. It is larger because these lines are not
/// run.
const COMPARED: usize = 3000;

/// Number of generated lines that one shell runs, one after another.
const TOGETHER: usize = 64;

/// Maximum number of command lines in a failure message.
const TOLD: usize = 20;

struct Line {
    text: String,
    command: Command,
}

fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// Generates `many` command lines, and returns the different ones that the reader classifies as read-only. The
/// variables `HOLDSHORT_READER_LINES` and `HOLDSHORT_READER_SEED` override number and seed.
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
    // Uses one thread per job, since starting programs takes most of the time.
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
    // Skips lines in which the shell computes words: the reader may not find every command of such a line.
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
