//! What people say on the way reaches the steps that start later (contract A15).

use super::{approved, planned, planning, request, say, subtask};

/// Lengths of what was said, the oldest first, and which of it a later step is told.
type Said<'a> = (&'a [usize], &'a [usize]);

/// From the newest backwards, whole, up to the first that does not fit.
#[test]
fn the_newest_that_fits_is_told_in_the_order_in_which_it_was_said() {
    let table: &[Said] = &[
        (&[1_500, 1_500, 1_500, 1_500], &[2, 3]),
        (&[2_000, 2_000], &[0, 1]),
        // What came before the one that does not fit may be what it took back.
        (&[50, 3_950, 100], &[2]),
        // The newest is told whatever its length, and uses the budget up.
        (&[50, 4_500], &[1]),
        (&[4_500, 50], &[1]),
    ];
    for (lengths, expected) in table {
        let mut world = approved(planned(planning()), &[subtask("a", &[]), subtask("b", &["a"])]);
        let notes: Vec<String> = (0..).zip(*lengths).map(|(n, length)| note(n, *length)).collect();
        for note in &notes {
            world.message(note);
        }
        say(&mut world, "work/a", "Done.");
        let told = request(&world, "work/b");
        let places: Vec<(usize, usize)> =
            notes.iter().enumerate().filter_map(|(n, note)| Some((told.find(note.as_str())?, n))).collect();
        assert!(places.is_sorted(), "{lengths:?}: {places:?}");
        assert_eq!(places.into_iter().map(|(_, n)| n).collect::<Vec<_>>(), *expected, "{lengths:?}");
    }
}

fn note(n: usize, length: usize) -> String {
    format!("note {n} {}", "x".repeat(length - 7))
}
