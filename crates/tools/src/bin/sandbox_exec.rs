//! The hidden subcommand `sandbox-exec` as a separate program, for the tests of this crate. This program contains
//! nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Skips the names of the program and of the subcommand.
    holdshort_tools::sandbox::exec(std::env::args_os().skip(2))
}
