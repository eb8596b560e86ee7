//! The hidden subcommand as a program of its own, for this crate's tests. Nothing else belongs here.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The program's name, and that of the subcommand.
    holdshort_tools::sandbox::exec(std::env::args_os().skip(2))
}
