//! The binary `holdshort`: calls the command line of `crates/cli` with the packs of this build.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A decision is thousands of small pieces of memory, and glibc takes a sixth of it to find and keep them.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    holdshort_cli::main(std::env::args_os(), holdshort::PACKS)
}
