//! Source of all choices in a simulation: either a seed, or a list of choices that was recorded.
//!
//! Choices are recorded turn by turn. Therefore a turn can be left out of a history without changing the choices in
//! other turns. Choice 0 never does harm: it takes the first candidate, and lets nothing fail.

use crate::clock::mix;

/// The choices in one turn of a simulation, in the order in which they were made.
pub type Turn = Vec<u32>;

#[derive(Debug)]
pub(super) struct Choices {
    source: Source,
    /// The choices that were made so far in the simulation, one turn after another.
    made: Vec<Turn>,
}

#[derive(Debug)]
enum Source {
    Seed(u64),
    Told {
        turns: std::vec::IntoIter<Turn>,
        now: std::vec::IntoIter<u32>,
    },
    /// Source of a simulation whose choices are all 0.
    Calm,
}

impl Choices {
    pub(super) fn seeded(seed: u64) -> Self {
        Self { source: Source::Seed(mix(seed)), made: Vec::new() }
    }

    pub(super) fn from_turns(turns: Vec<Turn>) -> Self {
        Self {
            source: Source::Told { turns: turns.into_iter(), now: Vec::new().into_iter() },
            made: Vec::new(),
        }
    }

    /// Begins the next turn of the simulation. Returns false if recorded choices are used and contain no more turns.
    pub(super) fn next_turn(&mut self) -> bool {
        match &mut self.source {
            Source::Told { turns, now } => match turns.next() {
                Some(turn) => *now = turn.into_iter(),
                None => return false,
            },
            Source::Seed(_) | Source::Calm => {}
        }
        self.made.push(Turn::new());
        true
    }

    pub(super) fn calm(&mut self) {
        self.source = Source::Calm;
    }

    /// Returns a choice below `sides`. If `sides` is 0, returns 0.
    pub(super) fn below(&mut self, sides: usize) -> usize {
        let sides = u32::try_from(sides.max(1)).unwrap_or(u32::MAX);
        let chosen = match &mut self.source {
            Source::Seed(state) => {
                *state = state.wrapping_add(1);
                u32::try_from(mix(*state) >> 33).unwrap_or(0) % sides
            }
            Source::Told { now, .. } => now.next().unwrap_or(0) % sides,
            Source::Calm => return 0,
        };
        if let Some(turn) = self.made.last_mut() {
            turn.push(chosen);
        }
        chosen as usize
    }

    /// Returns true with probability 1/`sides`, if the choices of the simulation come from a seed.
    pub(super) fn one_in(&mut self, sides: usize) -> bool {
        sides > 0 && self.below(sides) == sides - 1
    }

    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    pub(super) fn into_made(self) -> Vec<Turn> {
        self.made
    }
}
