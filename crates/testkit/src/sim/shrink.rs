//! Shortens the history of a failed simulation: leaves out turns, as long as the simulation still fails.

use super::choices::Turn;
use super::mutants::Mutant;
use super::{SimulationReport, replay};

/// Maximum number of shortened histories that are tried for one failed simulation.
const TRIES: usize = 500;

/// Maximum number of simulation steps in all tried histories together. The limit is needed because a history that fails
/// by never ending has many steps.
const STEPS: u64 = 1_000_000;

/// Returns the shortest history of a failed simulation that still fails. This history is played once more, and its
/// lines are recorded.
pub fn shrink(failed: &SimulationReport, mutant: Option<Mutant>) -> SimulationReport {
    let mut turns = failed.turns.clone();
    let (mut tries, mut steps) = (0, 0);
    let mut chunk = turns.len() / 2;
    while chunk > 0 && tries < TRIES && steps < STEPS {
        // The first turn decides the kind of the simulation. Therefore it is never left out.
        let mut at = 1;
        while at < turns.len() && tries < TRIES && steps < STEPS {
            let shorter = without(&turns, at, chunk);
            tries += 1;
            let played = replay(failed.seed, shorter, mutant, false);
            steps += played.steps;
            if played.problem.is_some() {
                turns = played.turns;
            } else {
                at += chunk;
            }
        }
        chunk /= 2;
    }
    replay(failed.seed, turns, mutant, true)
}

fn without(turns: &[Turn], at: usize, many: usize) -> Vec<Turn> {
    let after = (at + many).min(turns.len());
    turns[..at].iter().chain(&turns[after..]).cloned().collect()
}
