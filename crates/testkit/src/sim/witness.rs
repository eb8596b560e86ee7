//! For each mutant and each bend, a seed with which it is detected. The file `witnesses.txt` contains one seed for each
//! of them. Therefore the test command need not search for seeds.

use std::fmt::{self, Display, Formatter, Write};
use std::path::Path;

use super::{Bend, Mutant};

impl Mutant {
    /// Returns the seed in `witnesses.txt` with which this mutant (a defect of the engine) is detected.
    pub fn witness(self) -> Option<u64> {
        seed_of(&self.to_string())
    }
}

impl Bend {
    /// Returns the seed in `witnesses.txt` with which this bend (a falsification of events) is detected.
    pub fn witness(self) -> Option<u64> {
        seed_of(&self.to_string())
    }
}

impl Display for Mutant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "mutant {self:?}")
    }
}

impl Display for Bend {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "bend {self:?}")
    }
}

fn seed_of(name: &str) -> Option<u64> {
    let mut lines = include_str!("witnesses.txt").lines().filter_map(|line| line.rsplit_once(' '));
    lines.find(|(of, _)| *of == name)?.1.parse().ok()
}

/// Searches, for each mutant and each bend, for a seed with which it is detected. Writes these seeds to
/// `witnesses.txt`. Returns true if all of them were found.
pub(super) fn search(say: &mut dyn FnMut(String)) -> bool {
    let mutants = Mutant::ALL.into_iter().map(|mutant| {
        let noticed = mutant.noticed().map(|played| (played.seed, played.problem));
        (mutant.to_string(), noticed)
    });
    let bends = Bend::ALL.into_iter().map(|bend| {
        let noticed = bend.noticed().map(|asked| (asked.seed, asked.problem));
        (bend.to_string(), noticed)
    });
    let (mut lines, mut all) = (String::new(), true);
    for (name, noticed) in mutants.chain(bends) {
        let Some((seed, problem)) = noticed else {
            all = false;
            say(format!("{name}: NOT noticed"));
            continue;
        };
        say(format!("{name}: detected with seed {seed}: {}", problem.unwrap_or_default()));
        let _infallible = writeln!(lines, "{name} {seed}");
    }
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/sim/witnesses.txt");
    if let Err(error) = std::fs::write(kept, lines) {
        say(format!("the seeds cannot be written to `witnesses.txt`: {error}"));
        return false;
    }
    all
}
