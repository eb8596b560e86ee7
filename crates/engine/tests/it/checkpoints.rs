//! The Merkle tree over a growing journal, which equals the tree over all its events. Also tests proofs from cached
//! blocks, and signed notes.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Content, seal};
use holdshort_core::event::{Event, Fact};
use holdshort_core::head::Head;
use holdshort_core::id::{Draw, Seed, StreamId};
use holdshort_core::system;
use holdshort_core::time::Timestamp;
use holdshort_core::tree::{Growing, consistency, continues, inclusion, is_included};
use holdshort_engine::evidence::{Checkpoint, Malformed, Signer, Tree, VerifyingKey, append, notes};
use holdshort_store::{Append, Log, Memory, StreamAppend};

/// Appends `count` events to the stream of the installation. Returns the hashes of the events.
async fn grow(journal: &Memory, chain: &mut Chain, count: u64) -> Vec<Digest> {
    let at = Timestamp::from_millis(1_780_000_000_000);
    let mut draw = Draw::new(Seed([7; 16]), at);
    let (stream, expected) = (StreamId::System, chain.seq);
    let event = |n: u64| Event {
        stream: stream.clone(),
        at,
        actor: Actor::engine(),
        fact: Fact::System(system::Fact::SignedOut { person: format!("p{n}") }),
        content: Content::none(),
    };
    let events: Vec<_> = (0..count).map(|n| seal(&event(expected + n), chain, &mut draw)).collect();
    let hashes = events.iter().map(|event| event.hash).collect();
    let streams = vec![StreamAppend { stream: stream.clone(), expected, events }];
    journal.append(Append { streams, ..Append::default() }).await.unwrap();
    hashes
}

#[tokio::test]
async fn proofs_from_kept_blocks_are_those_of_the_whole_tree() {
    let journal = Arc::new(Memory::new());
    let tree = Tree::new(journal.clone());
    assert_eq!(tree.snapshot().await.unwrap(), None);
    let (mut chain, mut all, mut roots) = (Chain::START, Vec::new(), vec![Digest::ZERO]);
    let mut whole = Growing::default();
    // These sizes include a tree whose last block is exactly full, and a tree with one event more.
    for more in [1, 6, 1_016, 1, 1, 1_023, 300] {
        for hash in grow(&journal, &mut chain, more).await {
            whole.event(&hash);
            roots.push(whole.root());
            all.push(hash);
        }
        let size = all.len() as u64;
        let standing = tree.snapshot().await.unwrap().unwrap();
        let head = all.iter().fold(Head::START, |head, hash| head.then(hash));
        assert_eq!((standing.root, standing.head, standing.first), (whole.root(), head, all[0]));
        for index in [0, 1, size / 3, size / 2, size.saturating_sub(2), size - 1] {
            assert_eq!(tree.index(index + 1).await.unwrap(), Some(index).filter(|index| *index < size));
            let path = tree.proof(&inclusion(index.min(size - 1), size).unwrap()).await.unwrap();
            let at = index.min(size - 1);
            assert!(
                is_included(&all[usize::try_from(at).unwrap()], at, size, &path, &standing.root),
                "{at} of {size}"
            );
        }
        assert_eq!((tree.index(0).await.unwrap(), tree.index(size + 1).await.unwrap()), (None, None));
        for earlier in
            [1, 2, size / 2, 1_024, 1_025, size].into_iter().filter(|earlier| (1..=size).contains(earlier))
        {
            let proof = tree.proof(&consistency(earlier, size).unwrap()).await.unwrap();
            let first = roots[usize::try_from(earlier).unwrap()];
            assert!(continues((earlier, &first), (size, &standing.root), &proof), "{earlier} to {size}");
        }
    }
}

#[test]
fn a_note_is_good_with_its_key_and_as_it_was_signed() {
    let signer = Signer::from_pkcs8(&Signer::draw().unwrap()).unwrap();
    let origin = Checkpoint::origin(&Digest::of_bytes(b"first"));
    let checkpoint = Checkpoint { origin, size: 1042, root: Digest::of_bytes(b"root") };
    let at = Timestamp::from_millis(1_780_000_000_000);
    let head = Head { events: 1042, hash: Digest::of_bytes(b"head") };
    let note = checkpoint.sign(&head, at, &signer);
    let vkey = signer.key().vkey(&checkpoint.origin);
    let keys: [VerifyingKey; 1] = [vkey.parse().unwrap()];
    // Some keys contain `+` in their base64. A `+` also separates the parts of a key's text.
    for _ in 0..200 {
        let key = Signer::from_pkcs8(&Signer::draw().unwrap()).unwrap().key();
        assert_eq!((key.vkey("a/b").parse(), key.to_string().parse()), (Ok(key), Ok(key)));
    }
    assert_eq!(keys[0], signer.key());
    assert_eq!(Checkpoint::open(&note, &keys), Ok(checkpoint.clone()));
    let other = Signer::from_pkcs8(&Signer::draw().unwrap()).unwrap();
    assert_eq!(Checkpoint::open(&note, &[other.key()]), Err(Malformed::Signature));
    assert_eq!(Checkpoint::open(&note, &[other.key(), keys[0]]), Ok(checkpoint));
    for (from, to) in
        [("1042\n", "1043\n"), ("holdshort/", "holdshorT/"), ("at 2", "at 3"), ("\u{2014} ", "- ")]
    {
        assert_eq!(Checkpoint::open(&note.replacen(from, to, 1), &keys), Err(Malformed::Signature), "{from}");
    }
    for text in ["", "a\n1\nb\n\n", "a\n-1\nAAAA\n\nx", "a\n1\n\n\u{2014} a b"] {
        assert_eq!(Checkpoint::open(text, &keys), Err(Malformed::Text), "{text}");
    }
    // A file may contain several notes, with or without empty lines between them.
    let file = format!("{note}\n{note}{note}\n");
    let (found, outside) = notes(&file);
    assert_eq!(found, [note.clone(), note.clone(), note.clone()]);
    assert!(outside.iter().all(|(_, line)| line.is_empty()), "{outside:?}");
    // A note that was cut off does not prevent the notes after it from being read.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kept.txt");
    std::fs::write(&path, &note[..40]).unwrap();
    append(&path, &note).unwrap();
    append(&path, &note).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let (found, _) = notes(&text);
    let opened: Vec<_> = found.iter().map(|note| Checkpoint::open(note, &keys).is_ok()).collect();
    assert_eq!(opened, [false, true, true]);
}
