//! The sandbox level of this host. A probe (a test of whether a level works) can fail because the host is busy, and
//! this must not weaken the sandbox of later commands. The level therefore never falls while the server runs, and a
//! level below the full level is probed again after some time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use holdshort_core::tool::SandboxLevel;

use super::launch;
use crate::limits::{PROBE_AGAIN, PROBES};

/// Known sandbox level for a program and a network setting. `None` until the first probe has ended. While a probe is
/// running, it has locked this value.
type Slot = Arc<Mutex<Option<ProbedLevel>>>;

/// Known sandbox levels, by the sandbox program and the network setting.
static FOUND: Mutex<BTreeMap<(PathBuf, bool), Slot>> = Mutex::new(BTreeMap::new());

#[derive(Clone, Copy)]
struct ProbedLevel {
    level: SandboxLevel,
    at: Instant,
}

impl ProbedLevel {
    /// Returns true if the sandbox level is still valid at the time `now`, so that no new probe is necessary.
    fn holds_at(self, now: Instant) -> bool {
        self.level == SandboxLevel::Full || now.saturating_duration_since(self.at) < PROBE_AGAIN
    }
}

/// Returns the highest sandbox level that works on this host. The level is determined by running a probe command that
/// tries to escape from the sandbox. Blocks.
///
///
/// The first call for a program takes some milliseconds; later calls return the stored level. `program` is the
/// executable that contains the hidden subcommand.
pub fn level(program: &Path, network: bool) -> SandboxLevel {
    let found = {
        let mut all = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        all.entry((program.to_owned(), network)).or_default().clone()
    };
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    let known = found.filter(|known| known.holds_at(Instant::now()));
    if let Some(known) = known {
        return known.level;
    }
    let probed = highest(|level| (0..PROBES).any(|_| launch::probe_level(program, level, network)));
    let level = found.map_or(probed, |before| before.level.max(probed));
    *found = Some(ProbedLevel { level, at: Instant::now() });
    level
}

fn highest(holds: impl Fn(SandboxLevel) -> bool) -> SandboxLevel {
    [SandboxLevel::Full, SandboxLevel::Partial]
        .into_iter()
        .find(|level| holds(*level))
        .unwrap_or(SandboxLevel::None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_below_the_full_one_is_probed_again_after_a_while() {
        let at = Instant::now();
        let holds = |level, later| ProbedLevel { level, at }.holds_at(at + later);
        let again = PROBE_AGAIN;
        let soon = again / 2;
        assert!(holds(SandboxLevel::Full, again * 100));
        for level in [SandboxLevel::Partial, SandboxLevel::None] {
            assert_eq!((holds(level, soon), holds(level, again)), (true, false), "{level:?}");
        }
    }
}
