//! The fuzz targets on their corpus and on what a seeded mutator makes of it: the part of fuzzing that is the same
//! each time. `fuzz/README.md` says how to let libFuzzer look further.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use holdshort_testkit::fuzz::{TARGETS, mutations};

const MUTATIONS: u64 = 2_000;

#[test]
fn every_target_holds_on_its_corpus_and_near_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let targets: Vec<_> = TARGETS
        .iter()
        .map(|(name, target)| {
            let seeds = corpus(&folder.join("corpus").join(name));
            assert!(seeds.len() >= 5, "{name} has {} seeds", seeds.len());
            // Under libFuzzer it has a program of its own.
            assert!(folder.join("fuzz_targets").join(format!("{name}.rs")).is_file(), "{name}");
            std::thread::spawn(move || {
                let tries = seeds.iter().cloned().chain(mutations(&seeds, MUTATIONS, 1));
                for (n, bytes) in tries.enumerate() {
                    let outcome = catch_unwind(AssertUnwindSafe(|| target(&bytes)));
                    assert!(outcome.is_ok(), "{name}, input {n}: {:?}", String::from_utf8_lossy(&bytes));
                }
            })
        })
        .collect();
    for target in targets {
        target.join().unwrap();
    }
}

fn corpus(folder: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}
