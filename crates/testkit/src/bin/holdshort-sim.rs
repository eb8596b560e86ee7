//! Command-line program of the simulator, started by `cargo xtask sim`.

#![expect(clippy::print_stdout, reason = "a command-line tool prints")]

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let well = holdshort_testkit::sim::command::run(&words, &mut |line| println!("{line}"));
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
