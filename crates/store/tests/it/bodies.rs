//! Store tests for the contents of files that changesets name: which are kept, and which are dropped.

use holdshort_core::digest::Digest;
use holdshort_store::{Append, Blob, Bodies, Log};

use crate::conformance::on_every_store;
use crate::fixture::at;
use crate::subject::Subject;

on_every_store! {
    bodies_are_kept_as_long_as_they_are_needed,
    the_bodies_that_nobody_needed_for_the_longest_time_make_room,
}

fn body(n: u8, size: usize) -> Blob {
    Blob::new(vec![n; size])
}

async fn bodies_are_kept_as_long_as_they_are_needed<S: Subject>() {
    let store = S::open().await;
    let (one, two, empty) = (body(1, 10), body(2, 20), body(0, 0));
    let journal = store.journal();
    journal.put_bodies(vec![one.clone(), two.clone(), one.clone(), empty.clone()], at(100)).await.unwrap();
    // An earlier time of use does not replace a later time.
    journal.put_bodies(vec![one.clone()], at(50)).await.unwrap();
    let unknown = Digest::of_bytes(b"unknown");
    let found = journal.need_bodies(vec![two.digest, unknown], at(200)).await.unwrap();
    assert_eq!(found.into_iter().collect::<Vec<_>>(), [two.digest]);
    assert_eq!(journal.need_bodies(Vec::new(), at(200)).await.unwrap().len(), 0);
    assert_eq!(journal.drop_bodies(at(100), 1_000).await.unwrap(), 0);
    let store = store.restart().await;
    let journal = store.journal();
    assert_eq!(journal.body(&one.digest).await.unwrap(), Some(one.bytes.clone()));
    assert_eq!(journal.body(&empty.digest).await.unwrap(), Some(Vec::new()));
    assert_eq!(journal.drop_bodies(at(101), 1_000).await.unwrap(), 2);
    assert_eq!(journal.body(&one.digest).await.unwrap(), None);
    assert_eq!(journal.body(&two.digest).await.unwrap(), Some(two.bytes.clone()));
    // A blob with the same digest is stored separately and is not dropped.
    assert_eq!(journal.body(&unknown).await.unwrap(), None);
    journal.append(Append { blobs: vec![one.clone()], ..Append::default() }).await.unwrap();
    assert_eq!(journal.drop_bodies(at(10_000), 0).await.unwrap(), 1);
    assert_eq!(journal.blob(&one.digest).await.unwrap(), Some(one.bytes));
    assert_eq!(journal.inspect().await.unwrap(), [""; 0]);
}

async fn the_bodies_that_nobody_needed_for_the_longest_time_make_room<S: Subject>() {
    let store = S::open().await;
    let journal = store.journal();
    for n in 1..=5 {
        journal.put_bodies(vec![body(n, 10)], at(u64::from(n))).await.unwrap();
    }
    journal.need_bodies(vec![body(1, 10).digest], at(6)).await.unwrap();
    assert_eq!(journal.drop_bodies(at(0), 50).await.unwrap(), 0);
    assert_eq!(journal.drop_bodies(at(0), 35).await.unwrap(), 2);
    let mut kept = Vec::new();
    for n in 1..=5 {
        if journal.body(&body(n, 10).digest).await.unwrap().is_some() {
            kept.push(n);
        }
    }
    assert_eq!(kept, [1, 4, 5]);
    // More files than one batch drops.
    let many: Vec<Blob> = (0..450_u32).map(|n| Blob::new(n.to_be_bytes().to_vec())).collect();
    journal.put_bodies(many, at(7)).await.unwrap();
    let mut rounds = Vec::new();
    loop {
        match journal.drop_bodies(at(100), 1_000_000).await.unwrap() {
            0 => break,
            dropped => rounds.push(dropped),
        }
    }
    assert_eq!((rounds.iter().sum::<usize>(), rounds.len()), (453, 3));
}
