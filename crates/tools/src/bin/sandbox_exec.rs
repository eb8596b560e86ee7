//! The hidden subcommand as a program of its own, for this crate's tests. It must hold nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Skips the name of the program and that of the subcommand.
    holdshort_tools::sandbox::exec(std::env::args_os().skip(2))
}
