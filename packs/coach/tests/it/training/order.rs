//! The order of files, rows and records never changes a result.

use holdshort_coach::training::Reading;

use crate::training::computed;
use crate::training::generated::{Generated, Random};
use crate::training::support::read_all;

/// Tests that metrics are equal to the last bit for any order of files and records, because values are summed in a
/// fixed order.
#[test]
fn no_metric_depends_on_the_order_of_files_or_records() {
    for seed in 0..16 {
        let mut season = Generated::from_seed(seed);
        let before = read_all(&season.files());
        let expected = computed::all(&before.season, &season.athlete, season.as_of);
        let mut random = Random(seed ^ 0x5EED);
        for (_, _, rows) in season.tables.iter_mut().chain(&mut season.tracks) {
            random.shuffle(rows);
        }
        let mut files = season.files();
        random.shuffle(&mut files);
        let after = read_all(&files);
        assert_eq!(computed::all(&after.season, &season.athlete, season.as_of), expected, "seed {seed}");
        let codes = |reading: &Reading| {
            let mut codes: Vec<_> = reading.problems.iter().map(|problem| problem.code).collect();
            codes.sort();
            codes
        };
        assert_eq!(codes(&after), codes(&before), "seed {seed}");
    }
}

/// Tests that a file under two names is used once, and so is a repeated row.
#[test]
fn no_metric_counts_anything_twice() {
    for seed in 0..5 {
        let mut season = Generated::from_seed(seed);
        let before = read_all(&season.files());
        let expected = computed::all(&before.season, &season.athlete, season.as_of);
        for (_, _, rows) in &mut season.tables {
            rows.extend(rows.clone());
        }
        let mut files = season.files();
        let copies: Vec<_> =
            files.iter().map(|(name, bytes)| (format!("copy of {name}"), bytes.clone())).collect();
        files.extend(copies);
        let after = read_all(&files);
        assert_eq!(computed::all(&after.season, &season.athlete, season.as_of), expected, "seed {seed}");
    }
}
