//! From a failing history to a short one: turns are left out as long as it still fails.

use super::choices::Turn;
use super::mutants::Mutant;
use super::{Played, replay};

/// Histories tried at most.
const TRIES: usize = 500;

/// Steps played at most: a history that fails by never ending is a long one.
const STEPS: u64 = 1_000_000;

/// The shortest history found that fails, replayed with its lines.
pub fn shrink(failed: &Played, mutant: Option<Mutant>) -> Played {
    let mut turns = failed.turns.clone();
    let (mut tries, mut steps) = (0, 0);
    let mut chunk = turns.len() / 2;
    while chunk > 0 && tries < TRIES && steps < STEPS {
        // The first turn says what kind of simulation it is.
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
