//! The binary `holdshort`. Nothing happens here: see `lib.rs`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// A decision is thousands of small pieces of memory, and glibc takes a sixth of it to find and keep them.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    holdshort_cli::main(std::env::args_os(), holdshort_cli::Hooks::default())
}
