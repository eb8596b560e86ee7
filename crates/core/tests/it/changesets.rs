//! What is a changeset and what is none, and the one text of each name.

use holdshort_core::changeset::{Change, Changeset, Entry, Malformed, bytes_of, text_of};
use holdshort_core::digest::Digest;

#[expect(clippy::unnecessary_wraps, reason = "one side of a change, which may be absent")]
fn file(text: &str) -> Option<Entry> {
    Some(Entry::File { digest: Digest::of(text.as_bytes()), bytes: text.len() as u64, mode: 0o644 })
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
