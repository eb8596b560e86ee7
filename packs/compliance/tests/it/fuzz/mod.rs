//! Runs the fuzz target on its corpus and on inputs of a seeded mutator. `fuzz/` runs the same target under libFuzzer.

mod target;

#[test]
fn the_target_holds_on_its_corpus_and_near_it() {
    holdshort_testkit::fuzz::hold("casework", target::casework);
}
