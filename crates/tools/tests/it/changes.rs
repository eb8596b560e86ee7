//! Writing and editing files: the approval card, the change, and the leftovers of a crash.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use holdshort_core::digest::Digest;
use holdshort_core::tool::{Outcome, Precondition};
use holdshort_tools::{Call, limits};
use serde_json::{Value, json};

use crate::bench::{Bench, names, text};

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "a.txt", "old": old, "new": new})
}

fn state(path: &str, content: Option<&str>) -> Precondition {
    Precondition {
        path: path.to_owned(),
        sha256: content.map(|content| Digest::of_bytes(content.as_bytes())),
    }
}

#[tokio::test]
async fn an_edit_is_shown_then_done() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\nthree\n");
    let inspection = bench.ready("edit_file", edit("two\n", "2\n2½\n")).await;
    assert_eq!(inspection.preconditions, [state("a.txt", Some("one\ntwo\nthree\n"))]);
    assert_eq!(inspection.ask_because, Vec::<String>::new());
    assert_eq!(
        inspection.card,
        json!({"path": "a.txt", "new_file": false, "diff": {
            "hunks": [{"old_start": 1, "old_lines": 3, "new_start": 1, "new_lines": 4, "lines": [
                {"op": " ", "text": "one"},
                {"op": "-", "text": "two"},
                {"op": "+", "text": "2"},
                {"op": "+", "text": "2½"},
                {"op": " ", "text": "three"},
            ]}],
            "added": 2, "removed": 1, "truncated": false,
        }})
    );
    assert_eq!(bench.content("a.txt"), "one\ntwo\nthree\n");
    let outcome = bench.run("edit_file", edit("two\n", "2\n2½\n"), &inspection.preconditions).await;
    assert_eq!(
        outcome,
        Outcome::Done {
            text: "changed a.txt (+2 −1 lines)".into(),
            data: json!({"path": "a.txt", "sha256": Digest::of_bytes("one\n2\n2½\nthree\n".as_bytes()), "bytes": 16, "added": 2, "removed": 1}),
        }
    );
    assert_eq!(bench.content("a.txt"), "one\n2\n2½\nthree\n");
    assert_eq!(names(&bench.at("")), ["a.txt"]);
}

#[tokio::test]
async fn edits_that_are_impossible() {
    let bench = Bench::new();
    bench.put("a.txt", "aaa\r\nb\r\n");
    let cases = [
        ("x", "y", "old_not_found"),
        ("aaa\nb", "y", "old_not_found"),
        // Occurrences that overlap are counted separately.
        ("aa", "y", "old_not_unique"),
        ("aaa", "aaa", "nothing_to_change"),
        ("", "y", "old_not_found"),
        ("aaa", "y", "ready"),
    ];
    for (old, new, code) in cases {
        assert_eq!(bench.code("edit_file", edit(old, new)).await, code, "{old:?}");
    }
    assert_eq!(bench.code("edit_file", json!({"path": "b.txt", "old": "a", "new": "b"})).await, "not_found");
}

#[tokio::test]
async fn a_new_file_is_shown_then_written_with_its_folders() {
    let bench = Bench::new();
    let arguments = json!({"path": "new/deep/a.txt", "content": "one\ntwo"});
    let inspection = bench.ready("write_file", arguments.clone()).await;
    assert_eq!(inspection.preconditions, [state("new/deep/a.txt", None)]);
    assert_eq!(
        inspection.card,
        json!({"path": "new/deep/a.txt", "new_file": true, "diff": {
            "hunks": [{"old_start": 1, "old_lines": 0, "new_start": 1, "new_lines": 2, "lines": [
                {"op": "+", "text": "one"},
                {"op": "+", "text": "two", "no_newline_at_end": true},
            ]}],
            "added": 2, "removed": 0, "truncated": false,
        }})
    );
    assert!(!bench.at("new").exists());
    let done = text(bench.run("write_file", arguments, &inspection.preconditions).await);
    assert_eq!(done, "created new/deep/a.txt (+2 −0 lines)");
    assert_eq!(bench.content("new/deep/a.txt"), "one\ntwo");
    assert_eq!(names(&bench.at("new/deep")), ["a.txt"]);
}

#[tokio::test]
async fn a_large_diff_is_cut_but_counted() {
    let bench = Bench::new();
    let lines = limits::DIFF_LINES + 10;
    let card = bench.ready("write_file", json!({"path": "a.txt", "content": "x\n".repeat(lines)})).await.card;
    let diff = &card["diff"];
    assert_eq!((&diff["truncated"], &diff["added"]), (&json!(true), &json!(lines)));
    assert_eq!(diff["hunks"][0]["lines"].as_array().unwrap().len(), limits::DIFF_LINES);
    let content = "x".repeat(usize::try_from(limits::FILE_BYTES).unwrap() + 1);
    assert_eq!(bench.code("write_file", json!({"path": "a.txt", "content": content})).await, "too_large");
}

#[tokio::test]
async fn nothing_is_done_to_a_file_that_is_no_longer_the_one_shown() {
    let bench = Bench::new();
    bench.put("a.txt", "one\n");
    let changed = || Outcome::Changed { paths: vec!["a.txt".to_owned()] };
    let shown = bench.ready("edit_file", edit("one", "two")).await.preconditions;

    bench.put("a.txt", "one\nmore\n");
    assert_eq!(bench.run("edit_file", edit("one", "two"), &shown).await, changed());
    assert_eq!(bench.content("a.txt"), "one\nmore\n");
    fs::remove_file(bench.at("a.txt")).unwrap();
    assert_eq!(bench.run("edit_file", edit("one", "two"), &shown).await, changed());

    // A file appears at a path that was free when the call was inspected.
    let write = json!({"path": "a.txt", "content": "mine\n"});
    let shown = bench.ready("write_file", write.clone()).await.preconditions;
    bench.put("a.txt", "theirs\n");
    assert_eq!(bench.run("write_file", write.clone(), &shown).await, changed());
    // Without a precondition for this file the call does not run.
    assert_eq!(bench.run("write_file", write.clone(), &[]).await, changed());
    bench.put("b.txt", "");
    assert_eq!(bench.run("write_file", write, &[state("b.txt", Some(""))]).await, changed());
    assert_eq!(bench.content("a.txt"), "theirs\n");
    assert_eq!(names(&bench.at("")), ["a.txt", "b.txt"]);
}

#[tokio::test]
async fn a_file_is_replaced_and_keeps_its_mode() {
    let bench = Bench::new();
    bench.put("a.txt", "#!/bin/sh\n");
    fs::set_permissions(bench.at("a.txt"), fs::Permissions::from_mode(0o4751)).unwrap();
    let before = fs::metadata(bench.at("a.txt")).unwrap();
    text(bench.go("edit_file", edit("/bin/sh", "/bin/bash")).await);
    let after = fs::metadata(bench.at("a.txt")).unwrap();
    assert_ne!(after.ino(), before.ino());
    assert_eq!(after.mode() & 0o7777, 0o751, "all but set-user-id");
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
}

/// The next change in a folder removes a temporary file that a crash left there, and no other file.
#[tokio::test]
async fn what_a_crash_left_is_taken_away() {
    let bench = Bench::new();
    bench.put("a.txt", "one");
    for name in [".holdshort-1-0.tmp", ".holdshort-2-0.tmp", ".holdshort-notes.tmp", ".holdshort-1-0"] {
        bench.put(name, "x");
    }
    fs::create_dir(bench.at(".holdshort-3-0.tmp")).unwrap();
    // A different process has locked this file and is about to rename it.
    let busy = fs::File::open(bench.at(".holdshort-2-0.tmp")).unwrap();
    busy.lock().unwrap();
    text(bench.go("edit_file", edit("one", "two")).await);
    assert_eq!(bench.content("a.txt"), "two");
    let left =
        fs::read_dir(bench.at(".")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut left: Vec<String> = left.filter(|name| name.starts_with(".holdshort")).collect();
    left.sort();
    assert_eq!(left, [".holdshort-1-0", ".holdshort-2-0.tmp", ".holdshort-3-0.tmp", ".holdshort-notes.tmp"]);
}

#[tokio::test]
async fn a_file_with_another_name_asks_and_leaves_the_other_alone() {
    let bench = Bench::new();
    bench.put("a.txt", "one");
    fs::hard_link(bench.at("a.txt"), bench.root.path().join("data/other")).unwrap();
    let inspection = bench.ready("edit_file", edit("one", "two")).await;
    assert_eq!(inspection.ask_because, ["hard_link"]);
    text(bench.run("edit_file", edit("one", "two"), &inspection.preconditions).await);
    assert_eq!(bench.content("a.txt"), "two");
    assert_eq!(fs::read_to_string(bench.root.path().join("data/other")).unwrap(), "one");
}

#[tokio::test]
async fn observing_gives_the_present_state() {
    let bench = Bench::new();
    bench.put("a.txt", "one");
    bench.put("folder/x", "");
    let paths = ["folder", "missing", "a.txt", "../data"].map(ToOwned::to_owned);
    let unknown = |path: &str| Precondition { path: path.to_owned(), sha256: Some(Digest::ZERO) };
    assert_eq!(
        bench.tools.observe(&paths).await,
        [unknown("../data"), state("a.txt", Some("one")), unknown("folder"), state("missing", None)]
    );
}

#[tokio::test]
async fn a_change_is_committed_and_never_run() {
    let bench = Bench::new();
    let arguments = json!({"path": "new/a.txt", "content": "all new\n"});
    let proposed = bench.ready("write_file", arguments.clone()).await.proposed.expect("it changes a file");
    let paths: Vec<_> = proposed.changeset.changes().iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["new", "new/a.txt"]);

    let call = Call { tool: "write_file".to_owned(), arguments };
    let ran = bench.tools.run(&call, &[state("new/a.txt", None)], None, |_| {}).await;
    assert_eq!(ran, Outcome::Changed { paths: vec!["new/a.txt".to_owned()] });
    assert_eq!(names(&bench.at("")), [""; 0]);
}
