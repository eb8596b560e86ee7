//! Valid and invalid changesets, and the single text form of each file name.

use holdshort_core::changeset::{Change, Changeset, Entry, Malformed, NotKept, bytes_of, text_of};
use holdshort_core::digest::Digest;

#[expect(clippy::unnecessary_wraps, reason = "one side of a change, which may be absent")]
fn file(text: &str) -> Option<Entry> {
    Some(Entry::File { digest: Digest::of_bytes(text.as_bytes()), bytes: text.len() as u64, mode: 0o644 })
}

fn change(path: &str, before: Option<Entry>, after: Option<Entry>) -> Change {
    Change { path: path.to_owned(), before, after, ignored: false }
}

#[test]
fn changes_are_kept_in_the_order_of_their_paths() {
    let set =
        Changeset::new(vec![change("b", file("1"), None), change("a/c", None, file("2"))]).expect("a set");
    let paths: Vec<_> = set.changes().iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["a/c", "b"]);
    let text = serde_json::to_string(&set).expect("text");
    assert_eq!(serde_json::from_str::<Changeset>(&text).expect("the same"), set);
    assert_eq!(set.inverse().inverse(), set);
    assert_ne!(set.inverse().digest(), set.digest());
}

#[test]
fn what_is_no_changeset_is_refused() {
    for path in ["", "/etc/passwd", "a/../b", "a//b", "./a", "a/", "..", "a\\", "a\\x4", "a\\x41", "nul\0"] {
        let refused = Changeset::new(vec![change(path, None, file("x"))]);
        assert_eq!(refused, Err(Malformed::Path(path.to_owned())), "{path:?}");
    }
    let twice = vec![change("a", None, file("1")), change("a", file("1"), None)];
    assert_eq!(Changeset::new(twice), Err(Malformed::Order("a".to_owned())));
    let same = vec![change("a", file("1"), file("1"))];
    assert_eq!(Changeset::new(same), Err(Malformed::NoChange("a".to_owned())));
}

#[test]
fn a_file_that_becomes_a_folder_counts_as_deleted_and_a_folder_that_goes_does_not() {
    let folder = Some(Entry::Folder { mode: 0o755 });
    let link = Some(Entry::Symlink { target: "a".to_owned() });
    for (before, after, deletes) in [
        (file("1"), None, true),
        (link.clone(), None, true),
        (file("1"), folder.clone(), true),
        (file("1"), link, false),
        (folder.clone(), None, false),
        (folder, file("1"), false),
        (None, file("1"), false),
    ] {
        assert_eq!(change("a", before.clone(), after.clone()).deletes(), deletes, "{before:?} {after:?}");
    }
}

#[test]
fn every_name_has_one_text() {
    for (bytes, text) in [
        (&b"plain"[..], "plain"),
        ("ünï/日本".as_bytes(), "ünï/日本"),
        (b"back\\slash", "back\\\\slash"),
        (b"\xff\xfe.txt", "\\xff\\xfe.txt"),
        (b"caf\xe9", "caf\\xe9"),
    ] {
        assert_eq!(text_of(bytes), text);
        assert_eq!(bytes_of(text).as_deref(), Some(bytes), "{text}");
    }
    for text in ["\\", "\\n", "\\x4", "\\x41", "\\xFF", "\\xzz", "a\0b", "\\x+1"] {
        assert_eq!(bytes_of(text), None, "{text:?}");
    }
}

/// Entries of a path before and after a change. `None` if the path does not exist.
type Step = (Option<Entry>, Option<Entry>);

#[test]
fn what_was_committed_one_after_the_other_is_taken_back_together() {
    let (one, two, three) = (file("1"), file("2"), file("3"));
    // Changes of one path, the oldest first; the change that undoes all of them; true if another writer changed the
    // path in between.
    let table: [(&[Step], Option<Step>, bool); 6] = [
        (&[(None, one.clone())], Some((one.clone(), None)), false),
        (
            &[(one.clone(), two.clone()), (two.clone(), three.clone())],
            Some((three.clone(), one.clone())),
            false,
        ),
        (&[(None, one.clone()), (one.clone(), None)], None, false),
        (&[(one.clone(), None), (None, one.clone())], None, false),
        (&[(one.clone(), two.clone()), (three.clone(), None)], Some((None, one.clone())), true),
        (&[(None, one.clone()), (two.clone(), three.clone())], Some((three, None)), true),
    ];
    for (steps, expected, is_mixed) in table {
        let commits: Vec<Changeset> = steps
            .iter()
            .map(|(before, after)| {
                Changeset::new(vec![change("a", before.clone(), after.clone())]).expect("a set")
            })
            .collect();
        let newest_first: Vec<&Changeset> = commits.iter().rev().collect();
        let composed = Changeset::undoing(&newest_first);
        let taken_back = composed.changeset.changes().first().map(|it| (it.before.clone(), it.after.clone()));
        assert_eq!(taken_back, expected, "{steps:?}");
        assert_eq!(composed.mixed, if is_mixed { vec!["a"] } else { vec![] }, "{steps:?}");
    }
}

type Expected<'a> = Result<&'a [&'a str], NotKept>;

#[test]
fn a_part_of_a_changeset_holds_together() {
    let folder = || Some(Entry::Folder { mode: 0o755 });
    let set = Changeset::new(vec![
        change("a", file("1"), None),
        change("b", None, file("1")),
        change("gone", folder(), None),
        change("gone/x", file("1"), None),
        change("gone/y", file("1"), None),
        change("gone-not", file("1"), file("2")),
        change("in/.git", None, folder()),
        change("in/.git/config", None, file("1")),
        change("in/.git/HEAD", None, file("1")),
        change("in/file", None, file("1")),
        change("in", None, folder()),
        change("was", file("1"), folder()),
        change("was/new", None, file("1")),
        change("will", folder(), file("1")),
        change("will/old", file("1"), None),
        change("empty", None, folder()),
        change("bare/.git/HEAD", file("1"), file("2")),
        change("bare/.git/index", file("1"), file("2")),
        change("modes", folder(), Some(Entry::Folder { mode: 0o700 })),
        change("modes/x", None, file("1")),
    ])
    .expect("a set");
    let parts: Vec<&str> = set.parts().into_keys().collect();
    let expected = [
        "a",
        "b",
        "bare/.git",
        "empty",
        "gone-not",
        "gone/x",
        "gone/y",
        "in/.git",
        "in/file",
        "modes",
        "modes/x",
        "was",
        "will",
    ];
    assert_eq!(parts, expected);
    let none = |name: &str| Err(NotKept::Unknown(name.to_owned()));
    let table: [(&[&str], Expected<'_>); 17] = [
        (&["a"], Ok(&["a"])),
        (&["b", "a"], Ok(&["a", "b"])),
        (&["empty"], Ok(&["empty"])),
        (&["modes"], Ok(&["modes"])),
        (&["modes/x"], Ok(&["modes/x"])),
        // A kept file needs its directory, so the change that creates the directory is kept, too.
        (&["in/file"], Ok(&["in", "in/file"])),
        (&["gone/x"], Ok(&["gone/x"])),
        (&["gone/x", "gone/y"], Ok(&["gone", "gone/x", "gone/y"])),
        // These changes can only be kept together.
        (&["in/.git"], Ok(&["in", "in/.git", "in/.git/HEAD", "in/.git/config"])),
        (&["bare/.git"], Ok(&["bare/.git/HEAD", "bare/.git/index"])),
        (&["will"], Ok(&["will", "will/old"])),
        (&["was"], Ok(&["was", "was/new"])),
        (&[], Err(NotKept::Nothing)),
        (&["a", "c"], none("c")),
        (&["gone"], none("gone")),
        (&["will/old"], none("will/old")),
        (&["in/.git/HEAD"], none("in/.git/HEAD")),
    ];
    for (paths, expected) in table {
        let kept = set.only(&paths.iter().copied().collect());
        let kept =
            kept.as_ref().map(|kept| kept.changes().iter().map(|it| it.path.as_str()).collect::<Vec<_>>());
        assert_eq!(kept, expected.as_ref().map(|paths| paths.to_vec()), "{paths:?}");
    }
    assert_eq!(set.only(&parts.into_iter().collect()), Ok(set.clone()), "all of its parts are all of it");
}
