//! Simulator. The simulator runs whole systems with the real driver, in simulated time. All choices come from a seed.
//!
//! The simulator needs only one thread, and uses no real clock and no real randomness. In each turn, choices
//! (`choices.rs`) determine what happens next (`turns.rs`), what models and people do, and what fails (`faults.rs`).
//!
//! The number of the seed determines which features a simulation includes (`ranges.rs`): agents alone, plans, teams,
//! sessions, conversations, trials and undo, interruptions, copilots, questions, freezes, deliveries (`outbox.rs`).
//!
//! The witness (`check/`) is an observer that checks every append and every side effect. In the last part of a
//! simulation, the calm (`calm.rs`), nothing fails any more, and every run must end. If a seed fails, the history of
//! its simulation is shortened (`shrink.rs`). To test the witness itself, mutants break the engine on purpose
//! (`mutants.rs`). The witness must detect each of them (`witness.rs`).
//!
//! `assignments/` is a separate simulation, of assignments and their deadlines. It has no store. All other simulations
//! have a store in memory. If this is requested, a real PostgreSQL receives the same requests, and must give the same
//! responses (`store.rs`).

mod assignments;
mod calm;
mod check;
mod choices;
pub mod command;
mod copilots;
mod faults;
mod founders;
mod freezes;
mod history;
mod journal;
mod leases;
mod models;
mod mutants;
mod node;
mod outbox;
mod people;
mod questions;
mod ranges;
mod settle;
mod shrink;
mod site;
mod store;
mod tasks;
mod trials;
mod turns;
mod twin;
mod witness;
mod workflows;
mod world;

use std::collections::BTreeMap;

pub use assignments::{AssignmentReport, Bend, play as play_assignments};
pub use choices::Turn;
pub use mutants::Mutant;
pub use ranges::{
    COPILOTS_FROM, ENDINGS_FROM, FREEZES_FROM, INTERRUPTIONS_FROM, OUTBOX_FROM, PLANS_FROM, QUESTIONS_FROM,
    SESSIONS_FROM, TALKS_FROM, TRIALS_FROM,
};
pub use shrink::shrink;

use choices::Choices;
use faults::Climate;
use history::History;
use site::lock;
use turns::Sim;
use twin::Database;

/// Returns seeds of the simulator that have failed before. The seeds are the lines of `seeds.txt`. The test command
/// always plays them.
pub fn failed_once() -> impl Iterator<Item = u64> {
    include_str!("seeds.txt").lines().filter_map(|line| line.parse().ok())
}

/// Result of a simulation of the engine.
#[derive(Clone, Debug)]
pub struct SimulationReport {
    pub seed: u64,
    /// Number of turns of the simulation. In one turn, one of these things happens: a task continues, an append is
    /// written, a job completes, a person acts, time passes, or something fails.
    pub steps: u64,
    /// Number of events that were written in the simulation.
    pub events: u64,
    /// Numbers of delivery attempts and deliveries, by their results. `outbox.rs` and `check/deliveries.rs` define the
    /// names.
    pub told: BTreeMap<&'static str, u64>,
    /// Description of the first invariant that the simulation violated. `None` if none was violated.
    pub problem: Option<String>,
    /// The choices of each turn, until the part without faults begins or a problem is found.
    pub turns: Vec<Turn>,
    /// Lines of the simulation's history. Empty unless a history was requested.
    pub history: Vec<String>,
}

/// Runs the simulation that a seed determines. `mutant` is a deliberate defect that is added to the engine.
pub fn play(seed: u64, mutant: Option<Mutant>) -> SimulationReport {
    play_to_end(seed, Sim::new(seed, Choices::seeded(seed), mutant, History::default(), None))
}

/// Runs the simulation of a seed with two stores, the journal in memory and a real PostgreSQL, which must give the same
/// responses. Returns `None` if the store of this seed is for one node only, because PostgreSQL is for several nodes.
pub fn play_beside_postgres(seed: u64) -> Option<SimulationReport> {
    let mut choices = Choices::seeded(seed);
    choices.next_turn();
    if !Climate::new(&mut choices).shared {
        return None;
    }
    let (choices, beside) = (Choices::seeded(seed), Some(Database::new()));
    Some(play_to_end(seed, Sim::new(seed, choices, None, History::default(), beside)))
}

fn play_to_end(seed: u64, mut sim: Sim) -> SimulationReport {
    for _ in 0..sim.climate.turns {
        if sim.has_problem() || !sim.turn() {
            break;
        }
    }
    end(seed, sim)
}

/// Runs the simulation of a seed again, with recorded choices.
pub fn replay(seed: u64, turns: Vec<Turn>, mutant: Option<Mutant>, with_history: bool) -> SimulationReport {
    let history = if with_history { History::wanted() } else { History::default() };
    let mut sim = Sim::new(seed, Choices::from_turns(turns), mutant, history, None);
    while !sim.has_problem() && sim.turn() {}
    end(seed, sim)
}

fn end(seed: u64, mut sim: Sim) -> SimulationReport {
    if !sim.has_problem() {
        sim.calm_down();
        // This call records a difference that the PostgreSQL twin has found.
        sim.has_problem();
    }
    let mut site = lock(&sim.site);
    SimulationReport {
        seed,
        steps: sim.steps,
        events: site.witness.events(),
        told: std::mem::take(&mut site.witness.telling.counts),
        problem: site.witness.problem().map(str::to_owned),
        turns: sim.choices.into_made(),
        history: std::mem::take(&mut site.history).into_lines(),
    }
}
