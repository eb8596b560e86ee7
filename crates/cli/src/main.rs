//! The binary `holdshort`. Nothing happens here: see `lib.rs`.

use std::process::ExitCode;

fn main() -> ExitCode {
    holdshort_cli::main(std::env::args_os(), holdshort_cli::Hooks::default())
}
