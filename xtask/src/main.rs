//! Commands for developers of Holdshort: `cargo xtask verify`, `cargo xtask ui`, `cargo xtask bench`, `cargo xtask
//! dist`, `cargo xtask sim`, `cargo xtask reader`, `cargo xtask circles`.
//!
//! Runs other programs and reads their output. Contains no logic of the product.

#![expect(clippy::print_stdout, reason = "a command-line tool prints")]

mod bench;
mod bundle;
mod circles;
#[cfg(test)]
mod contract;
mod dist;
mod figures;
#[cfg(test)]
mod licences;
mod machine;
mod npm;
mod plain;
mod reader;
mod run;
mod sdk;
mod sim;
#[cfg(test)]
mod tree;
mod ui;
mod verify;

use std::process::ExitCode;

use verify::Extent;

const USAGE: &str = "\
cargo xtask verify          all checks that a change must pass
cargo xtask verify --quick  format, lints, and the tests that need only Rust
cargo xtask verify --long   simulations with new seeds, and all cases of tests that normally check samples
cargo xtask ui              checks the browser app and builds it into ui/dist
cargo xtask bench           measures Holdshort and a hand-written loop: [length | parked | streams | audit | trials | turns | peers | load] [--help]
cargo xtask dist            builds packages for people without a compiler in dist/; --check installs and runs each
cargo xtask reader          compares the reader of command lines with real shells: [LINES [SEED]]
cargo xtask circles         lists circular dependencies between the files of each crate
cargo xtask plain           lists sentences that are hard to read: [comments | documents | app | strings]
cargo xtask sim             simulates whole systems from seeds: [--seed N | --seeds N | --fresh MINUTES | --mutants]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["verify"] => verify::verify(Extent::Whole),
        ["verify", "--quick"] => verify::verify(Extent::Quick),
        ["verify", "--long"] => verify::verify(Extent::Long),
        ["ui"] => ui::ui(),
        ["bench", rest @ ..] => bench::bench(rest),
        ["dist", rest @ ..] => dist::dist(rest),
        ["sim", rest @ ..] => sim::sim(rest),
        ["reader", rest @ ..] => reader::reader(rest),
        ["circles"] => circles::print(),
        ["plain"] => plain::print(None),
        ["plain", group] => plain::print(Some(group)),
        _ => {
            println!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("\n{error:#}");
            ExitCode::FAILURE
        }
    }
}
