//! The simulator on fixed seeds, and with engines that are broken on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdshort_testkit::sim::{self, Bend, Mutant};

/// Number of seeds per range that the test plays in the simulator. `cargo xtask sim` plays many more seeds.
const SEEDS: usize = 20;

/// Number of seeds that the test plays in the range with channels: enough for each event in `MET_BY_CHANNELS`.
const WITH_OUTBOX: usize = 40;

/// Number of seeds that the test plays with PostgreSQL. Seeds whose store is for one node are skipped. `cargo xtask sim
/// --postgres N` plays more seeds.
const BESIDE_POSTGRES: u64 = 4;

/// Events that must occur at least once in the simulations with channels.
const MET_BY_CHANNELS: [&str; 13] = [
    "well",
    "read_and_failed",
    "not_reached",
    "busy",
    "hangs",
    "refused",
    "gone",
    "repeated",
    "together",
    "disabled",
    "delivered",
    "failed",
    "dropped",
];

#[test]
fn fixed_seeds() {
    let ranges = [
        0,
        sim::PLANS_FROM,
        sim::SESSIONS_FROM,
        sim::ENDINGS_FROM,
        sim::TALKS_FROM,
        sim::TRIALS_FROM,
        sim::INTERRUPTIONS_FROM,
        sim::COPILOTS_FROM,
        sim::QUESTIONS_FROM,
        sim::FREEZES_FROM,
    ];
    let of_ranges = ranges.into_iter().flat_map(|from| (from..).take(SEEDS));
    let failed: BTreeSet<u64> = sim::failed_once().collect();
    let seeds: Vec<u64> =
        failed.into_iter().chain(of_ranges).chain((sim::OUTBOX_FROM..).take(WITH_OUTBOX)).collect();
    let told = Mutex::new(BTreeMap::<&str, u64>::new());
    on_all_processors(&seeds, |seed| {
        let played = sim::play(seed, None);
        if played.problem.is_some() {
            let short = sim::shrink(&played, None);
            panic!("seed {seed}: {:?}\n{}", short.problem, short.history.join("\n"));
        }
        let mut told = told.lock().unwrap();
        for (what, n) in played.told {
            *told.entry(what).or_default() += n;
        }
    });
    let told = told.into_inner().unwrap();
    for what in MET_BY_CHANNELS {
        assert!(told.contains_key(what), "{what}: {told:?}");
    }
}

/// Calls `each` with each item, on all processors. The items are independent, and take most of the time of these tests.
fn on_all_processors<T: Copy + Sync>(items: &[T], each: impl Fn(T) + Sync) {
    let next = AtomicUsize::new(0);
    let worker = || {
        while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
            each(*item);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(worker);
        }
    });
}

#[test]
fn equal_seeds_play_alike() {
    let (one, other) = (sim::play(3, None), sim::play(3, None));
    assert_eq!((one.steps, one.events, &one.turns), (other.steps, other.events, &other.turns));
    let told = sim::replay(3, one.turns, None, false);
    assert_eq!((told.steps, told.events), (other.steps, other.events));
}

#[test]
fn postgresql_gives_the_answers_of_the_journal_in_memory() {
    for seed in 0..BESIDE_POSTGRES {
        let Some(played) = sim::play_beside_postgres(seed) else { continue };
        assert_eq!(played.problem, None, "seed {seed}");
        assert_eq!(played.turns, sim::play(seed, None).turns, "seed {seed}");
    }
}

/// Advice for a mutant that no stored seed detects. `witnesses.txt` stores one seed per mutant.
const SEARCH: &str = "`cargo xtask sim --mutants` searches seeds that show it, and keeps them";

#[test]
fn every_mutant_is_noticed() {
    let lived = Mutex::new(Vec::new());
    on_all_processors(&Mutant::ALL, |mutant| {
        let seed = mutant.witness();
        if seed.and_then(|seed| sim::play(seed, Some(mutant)).problem).is_none() {
            lived.lock().unwrap().push(mutant);
        }
    });
    assert_eq!(lived.into_inner().unwrap(), [], "broken on purpose, and nobody noticed: {SEARCH}");
}

/// Seed that suspends a session during the start of a run. Without the guard on the session's stream, the start would
/// succeed.
const SLIPS_BY: u64 = sim::SESSIONS_FROM + 13;

#[test]
fn a_start_that_slips_by_a_suspension_is_noticed() {
    let played = sim::play(SLIPS_BY, Some(Mutant::DropTheGuards));
    let problem = played.problem.unwrap_or_default();
    assert!(
        problem.contains("in a session that is not open"),
        "{problem}: another seed from SESSIONS_FROM may show it"
    );
}

/// Number of seeds that the test plays in the simulation of assignments, large enough that quorums, stages, delegates,
/// reminders and escalations all occur often.
const ASKED: u64 = 1_500;

#[test]
fn assignments_release_nothing_that_they_do_not_allow() {
    let (mut counts, mut releases) = (BTreeMap::<String, u64>::new(), 0);
    for seed in 0..ASKED {
        let played = sim::play_assignments(seed, None);
        assert_eq!(played.problem, None, "seed {seed}");
        for (kind, n) in played.counts {
            *counts.entry(kind).or_default() += n;
        }
        releases += played.releases;
    }
    let often = [
        "interrupt_opened",
        "interrupt_delegated",
        "interrupt_reassigned",
        "interrupt_timed",
        "interrupt_reminded",
        "interrupt_escalated",
        "interrupt_snoozed",
        "vote_withdrawn",
        "person_left",
        "away_set",
        "frozen",
    ];
    for kind in often {
        assert!(counts.get(kind).is_some_and(|n| *n > 100), "{kind}: {counts:?}");
    }
    assert!(releases > 100, "{releases}");
}

#[test]
fn bent_assignments_are_noticed() {
    let shows = |bend: Bend| {
        bend.witness().is_some_and(|seed| sim::play_assignments(seed, Some(bend)).problem.is_some())
    };
    let lived: Vec<Bend> = Bend::ALL.into_iter().filter(|bend| !shows(*bend)).collect();
    assert_eq!(lived, [], "bent on purpose, and nobody noticed: {SEARCH}");
}
