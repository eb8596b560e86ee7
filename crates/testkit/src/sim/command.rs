//! The simulator as a command-line program. The program plays seeds on all processors of the machine. If a seed fails,
//! it shortens the history of this seed and prints it.

use std::fs::OpenOptions;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::{OUTBOX_FROM, SimulationReport, play, play_beside_postgres, shrink, witness};

/// Number of seeds that one run of the simulator plays by default.
const SEEDS: u64 = 2_000;

/// Number of failed seeds after which a run of the simulator ends.
const FAILURES: usize = 20;

/// Runs the simulator command in `words`. `say` is called to print lines. Returns true if no problem was found.
pub fn run(words: &[&str], say: &mut dyn FnMut(String)) -> bool {
    let number = |text: &str| text.parse::<u64>().ok();
    match words {
        [] => campaign(0, Some(SEEDS), None, IN_MEMORY, say).is_empty(),
        ["--seed", seed] if number(seed).is_some() => one(number(seed).unwrap_or(0), say),
        ["--seeds", seeds] if number(seeds).is_some() => {
            campaign(0, number(seeds), None, IN_MEMORY, say).is_empty()
        }
        ["--postgres", seeds] if number(seeds).is_some() => {
            campaign(0, number(seeds), None, play_beside_postgres, say).is_empty()
        }
        ["--fresh", minutes] if number(minutes).is_some() => {
            let minutes = number(minutes).unwrap_or(0);
            let until = Instant::now() + Duration::from_secs(60 * minutes);
            let failed = campaign(fresh(), None, Some(until), IN_MEMORY, say);
            keep(&failed);
            failed.is_empty()
        }
        ["--mutants"] => witness::search(say),
        _ => {
            say("cargo xtask sim [--seed N | --seeds N | --fresh MINUTES | --postgres N | --mutants]"
                .to_owned());
            false
        }
    }
}

fn one(seed: u64, say: &mut dyn FnMut(String)) -> bool {
    let played = play(seed, None);
    say(format!("seed {seed}: {} steps, {} events", played.steps, played.events));
    if played.problem.is_some() {
        report_failure(&played, say);
    }
    played.problem.is_none()
}

/// Returns the first seed of a simulator campaign, which differs from those of previous campaigns.
fn fresh() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    OUTBOX_FROM + since.as_secs() * 10_000
}

/// Plays a seed with a store in memory, which is possible for every seed. The result is therefore never `None`.
const IN_MEMORY: fn(u64) -> Option<SimulationReport> = |seed| Some(play(seed, None));

/// Plays seeds of the simulator, beginning with `first`, on all processors. Ends when all seeds were played, when the
/// time is over, or when enough seeds have failed. If `play` returns `None` for a seed, the seed is skipped.
fn campaign(
    first: u64,
    seeds: Option<u64>,
    until: Option<Instant>,
    play: fn(u64) -> Option<SimulationReport>,
    say: &mut dyn FnMut(String),
) -> Vec<SimulationReport> {
    let (next, steps, events) = (AtomicU64::new(first), AtomicU64::new(0), AtomicU64::new(0));
    let failed: Mutex<Vec<SimulationReport>> = Mutex::default();
    let failures = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let goes_on = || until.is_none_or(|until| Instant::now() < until) && failures().len() < FAILURES;
    let began = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while goes_on() {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seeds.is_some_and(|seeds| seed >= first + seeds) {
                        break;
                    }
                    let Some(played) = play(seed) else { continue };
                    steps.fetch_add(played.steps, Ordering::Relaxed);
                    events.fetch_add(played.events, Ordering::Relaxed);
                    if played.problem.is_some() {
                        failures().push(played);
                    }
                }
            });
        }
    });
    let (steps, took) = (steps.into_inner(), began.elapsed());
    let per_minute = 60_000 * u128::from(steps) / took.as_millis().max(1);
    say(format!(
        "{steps} steps, {} events in {:.1} s: {per_minute} steps a minute on {threads} processors",
        events.into_inner(),
        took.as_secs_f64(),
    ));
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    for played in &failed {
        say(format!("seed {}: {}", played.seed, played.problem.as_deref().unwrap_or_default()));
    }
    if let Some(shortest) = failed.iter().min_by_key(|played| played.turns.len()) {
        report_failure(shortest, say);
    }
    failed
}

/// Adds the seeds that failed to the file `seeds.txt`. From then on, the test command always plays them.
fn keep(failed: &[SimulationReport]) {
    let file =
        OpenOptions::new().append(true).open(concat!(env!("CARGO_MANIFEST_DIR"), "/src/sim/seeds.txt"));
    if let Ok(mut file) = file {
        for played in failed {
            let _as_far_as_possible = writeln!(file, "{}", played.seed);
        }
    }
}

fn report_failure(played: &SimulationReport, say: &mut dyn FnMut(String)) {
    let short = shrink(played, None);
    say(format!(
        "\nseed {}: {}",
        played.seed,
        short.problem.as_deref().unwrap_or("the problem did not occur again")
    ));
    say(format!("The shortest history found, of {} turns:", short.turns.len()));
    for line in &short.history {
        say(line.clone());
    }
    say(format!("\nTo play it again: cargo xtask sim --seed {}", played.seed));
}
