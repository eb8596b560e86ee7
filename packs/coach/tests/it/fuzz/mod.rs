//! Runs the fuzz target on its corpus and on inputs of a seeded mutator. `fuzz/` runs the same target under libFuzzer.

mod target;

use std::fs;
use std::path::Path;

#[test]
fn the_target_holds_on_its_corpus_and_near_it() {
    holdshort_testkit::fuzz::hold("training", target::training);
}

/// The fuzz corpus has tables that only a mapping of their columns can read.
#[test]
fn the_corpus_reaches_the_mapping_of_columns() {
    for (seed, activities, days) in [("mapped", 2, 0), ("mapped_days", 0, 2)] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/training").join(seed);
        let bytes = fs::read(path).unwrap();
        let season = |bytes: &[u8]| target::read_input(bytes).unwrap().season;
        let mapped = season(&bytes);
        assert_eq!((mapped.activities.len(), mapped.days.len()), (activities, days), "{seed}");
        let tab = bytes.iter().position(|byte| *byte == b'\t').unwrap();
        let line = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let unmapped = season(&[&bytes[..tab], &bytes[line..]].concat());
        assert_eq!((unmapped.activities.len(), unmapped.days.len()), (0, 0), "{seed}");
    }
    assert!(target::read_input(b"m.csv\tstrat=Beginn\n").is_none(), "a refused mapping");
}
