//! The binary `holdshort`: calls the command line of `crates/cli` with the packs of this build.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Allocator of the program. A decision allocates thousands of small blocks of memory. The glibc allocator would take a
/// sixth of the decision's time.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    holdshort_cli::main(std::env::args_os(), holdshort::PACKS)
}
