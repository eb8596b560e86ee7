//! The simulator on fixed seeds, and on engines that are broken on purpose.

use holdshort_testkit::sim;

#[test]
fn fixed_seeds() {
    for seed in 0..200 {
        let played = sim::play(seed, None);
        if played.problem.is_some() {
            let short = sim::shrink(&played, None);
            panic!("seed {seed}: {:?}\n{}", short.problem, short.history.join("\n"));
        }
    }
}
