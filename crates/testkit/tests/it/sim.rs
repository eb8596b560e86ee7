//! The simulator on fixed seeds, and on engines that are broken on purpose.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};

use holdshort_testkit::sim::{self, Bend, Mutant};

/// Enough for every fault to meet every kind of run; `cargo xtask sim` plays many more.
const SEEDS: u64 = 100;

/// The same with plans, and with teams.
const PLANNED: usize = 40;
const TEAMS: usize = 40;

/// Of either, with sessions that are opened, suspended, resumed, closed, and expire.
const WITH_SESSIONS: usize = 40;

/// Those of one node are passed over. `cargo xtask sim --postgres N` plays more.
const BESIDE_POSTGRES: u64 = 4;

/// Of either, with every way to end work.
const WITH_ENDINGS: usize = 40;

/// Of either, with conversations, claims, and interrupts that take two people.
const WITH_TALKS: usize = 60;

/// Of either, with trials, commits that are written path by path, and undo.
const WITH_TRIALS: usize = 60;

/// Of either, with people who interrupt.
const WITH_INTERRUPTIONS: usize = 60;

/// With copilots, and phases that calls begin.
const WITH_COPILOTS: usize = 60;

/// With questions in every form. One in four plays copilots.
const WITH_QUESTIONS: usize = 80;

/// With freezes of runs, workflows and agents.
const WITH_FREEZES: usize = 60;

/// With channels that are told.
const WITH_OUTBOX: usize = 80;

#[test]
fn fixed_seeds() {
    let planned = (sim::PLANS_FROM..).filter(|seed| seed % 2 == 1).take(PLANNED);
    let teams = (sim::PLANS_FROM..).filter(|seed| seed % 2 == 0).take(TEAMS);
    let failed: BTreeSet<u64> = sim::failed_once().collect();
    let with_sessions = (sim::SESSIONS_FROM..).take(WITH_SESSIONS);
    let with_endings = (sim::ENDINGS_FROM..).take(WITH_ENDINGS);
    let with_talks = (sim::TALKS_FROM..).take(WITH_TALKS);
    let with_trials = (sim::TRIALS_FROM..).take(WITH_TRIALS);
    let with_interruptions = (sim::INTERRUPTIONS_FROM..).take(WITH_INTERRUPTIONS);
    let with_copilots = (sim::COPILOTS_FROM..).take(WITH_COPILOTS);
    let with_questions = (sim::QUESTIONS_FROM..).take(WITH_QUESTIONS);
    let newer = with_sessions
        .chain(with_endings)
        .chain(with_talks)
        .chain(with_trials)
        .chain(with_interruptions)
        .chain(with_copilots)
        .chain(with_questions)
        .chain((sim::FREEZES_FROM..).take(WITH_FREEZES))
        .chain((sim::OUTBOX_FROM..).take(WITH_OUTBOX));
    let seeds: Vec<u64> =
        failed.into_iter().chain(0..SEEDS).chain(planned).chain(teams).chain(newer).collect();
    let next = AtomicUsize::new(0);
    let each = || {
        while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            let played = sim::play(*seed, None);
            if played.problem.is_some() {
                let short = sim::shrink(&played, None);
                panic!("seed {seed}: {:?}\n{}", short.problem, short.history.join("\n"));
            }
        }
    };
    // They are most of what these tests take, and no seed knows of another one.
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(each);
        }
    });
}

/// What nothing ever happens to proves nothing.
#[test]
fn channels_meet_everything_that_can_happen_to_them() {
    let mut told = BTreeMap::<&str, u64>::new();
    for seed in (sim::OUTBOX_FROM..).take(WITH_OUTBOX) {
        for (what, n) in sim::play(seed, None).told {
            *told.entry(what).or_default() += n;
        }
    }
    let receivers = ["well", "read_and_failed", "not_reached", "busy", "hangs", "refused", "gone"];
    let senders = ["repeated", "together", "disabled", "delivered", "failed", "dropped"];
    for what in receivers.into_iter().chain(senders) {
        assert!(told.contains_key(what), "{what}: {told:?}");
    }
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

#[test]
fn every_mutant_is_noticed() {
    let mut lived = String::new();
    for mutant in Mutant::ALL {
        if mutant.noticed().is_none() {
            writeln!(lived, "{mutant:?}").unwrap();
        }
    }
    assert_eq!(lived, "", "broken on purpose, and nobody noticed");
}

/// Sessions are suspended in the middle of starts: without the guard on the session's stream one slips by.
#[test]
fn a_start_that_slips_by_a_suspension_is_noticed() {
    let problems = (sim::SESSIONS_FROM..)
        .take(400)
        .filter_map(|seed| sim::play(seed, Some(Mutant::DropTheGuards)).problem);
    let mut of_sessions = problems.filter(|problem| problem.contains("in a session that is not open"));
    assert_ne!(of_sessions.next(), None);
}

/// People, quorums, stages, delegates, reminders and escalations: enough that each of them happens many times.
const ASKED: u64 = 1_500;

#[test]
fn assignments_release_nothing_that_they_do_not_allow() {
    let (mut counts, mut releases) = (BTreeMap::<String, u64>::new(), 0);
    for seed in 0..ASKED {
        let played = sim::play_asked(seed, None);
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
    let lived: Vec<Bend> = Bend::ALL.into_iter().filter(|bend| bend.noticed().is_none()).collect();
    assert_eq!(lived, [], "bent on purpose, and nobody noticed");
}
