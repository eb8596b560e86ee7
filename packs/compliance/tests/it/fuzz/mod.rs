//! The fuzz target on its corpus and on what a seeded mutator makes of it. `fuzz/` runs the same under libFuzzer.

mod target;

#[test]
fn the_target_holds_on_its_corpus_and_near_it() {
    holdshort_testkit::fuzz::hold("casework", target::casework);
}
