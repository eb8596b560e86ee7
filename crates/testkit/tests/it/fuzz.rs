//! Runs the fuzz targets on their corpus and on seeded mutations of that corpus. This test is the repeatable part of
//! fuzzing. `fuzz/README.md` explains how to search further with libFuzzer.

use holdshort_testkit::fuzz::{TARGETS, hold};

#[test]
fn every_target_holds_on_its_corpus_and_near_it() {
    let targets = TARGETS.map(|(name, target)| std::thread::spawn(move || hold(name, target)));
    for target in targets {
        target.join().unwrap();
    }
}
