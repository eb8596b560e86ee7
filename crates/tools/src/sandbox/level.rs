//! The isolation level of this host, found once per process: a probe that fails under load must not change what later
//! commands run in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use holdshort_core::tool::SandboxLevel;

use super::launch;
use crate::limits::PROBES;

/// Levels found so far, by program and network setting.
static FOUND: Mutex<BTreeMap<(PathBuf, bool), SandboxLevel>> = Mutex::new(BTreeMap::new());

/// Returns the highest level that this host reaches, found by running a command that tries to get out.
///
/// The first call for a program blocks for some milliseconds, later ones answer from memory. `program` is the binary that
/// has the hidden subcommand.
pub fn level(program: &Path, network: bool) -> SandboxLevel {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    *found
        .entry((program.to_owned(), network))
        .or_insert_with(|| highest(|level| (0..PROBES).any(|_| launch::holds(program, level, network))))
}

fn highest(holds: impl Fn(SandboxLevel) -> bool) -> SandboxLevel {
    [SandboxLevel::Full, SandboxLevel::Partial]
        .into_iter()
        .find(|level| holds(*level))
        .unwrap_or(SandboxLevel::None)
}
