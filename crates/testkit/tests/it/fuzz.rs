//! The fuzz targets on their corpus and on what a seeded mutator makes of it: the part of fuzzing that is the same
//! each time. `fuzz/README.md` says how to let libFuzzer look further.

use holdshort_testkit::fuzz::{TARGETS, hold};

#[test]
fn every_target_holds_on_its_corpus_and_near_it() {
    let targets = TARGETS.map(|(name, target)| std::thread::spawn(move || hold(name, target)));
    for target in targets {
        target.join().unwrap();
    }
}
