//! Undo of a changeset: a path that was changed after the run stays unchanged, and each part of the changeset is undone
//! completely or not at all.

use std::collections::BTreeMap;
use std::process::Command;

use holdshort_tools::Committed;

use crate::bench::Bench;
use crate::tree::tree;
use crate::trial::complete_trial;

#[tokio::test]
async fn what_somebody_changed_since_is_left_as_it_is() {
    // The run's command, a later command that is not part of the run, the paths that are left with the reason, and the
    // undone paths.
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a [&'a str]);
    let table: [Row<'_>; 12] = [
        ("echo 2 > a", "true", &[], &["a"]),
        ("echo 2 > a; echo 2 > b", "echo 3 > b", &[("b", "changed_since")], &["a"]),
        ("echo 2 > a", "chmod 600 a", &[("a", "changed_since")], &[]),
        ("rm a", "echo 3 > a", &[("a", "changed_since")], &[]),
        ("echo 2 > a; echo 2 > b", "echo -n 1 > a", &[("a", "as_before")], &["b"]),
        ("mkdir n; echo 1 > n/x", "echo 2 > n/mine", &[("n/mine", "not_empty")], &["n/x"]),
        ("mkdir -p n/m; echo 1 > n/m/x", "rm n/m/x", &[("n/m/x", "as_before")], &[]),
        ("mkdir -p n/m; echo 1 > n/m/x", "echo 2 > n/m/mine", &[("n/m/mine", "not_empty")], &["n/m/x"]),
        ("rm -r d", "mkdir d; chmod 700 d", &[], &["d/e", "d/e/y", "d/x"]),
        ("rm -r d", "echo 1 > d", &[("d/e/y", "changed_since"), ("d/x", "changed_since")], &[]),
        // A file that became a folder forms one part together with the folder's content.
        (
            "rm a; mkdir a; echo 1 > a/x",
            "echo 2 > a/mine",
            &[("a", "holds_others"), ("a/mine", "not_empty")],
            &[],
        ),
        ("rm -r d; echo 2 > d; echo 2 > a", "echo 3 > d", &[("d", "changed_since")], &["a"]),
    ];
    for (line, others, expected, taken_back) in table {
        let bench = Bench::new();
        for (path, content) in [("a", "1"), ("b", "1"), ("d/x", "x"), ("d/e/y", "y")] {
            bench.put(path, content);
        }
        let done = complete_trial(&bench, &bench.tools, line).await;
        assert_eq!(done.commit(&bench.tools), Committed::Done, "{line}");
        let ran = Command::new("sh").args(["-c", others]).current_dir(bench.at("")).status();
        assert!(ran.unwrap().success(), "{others}");
        let before = tree(&bench.at(""));
        let why = format!("{line}, then {others}");
        let found = bench.tools.undoable(&done.trial.changeset.inverse(), BTreeMap::new()).unwrap();
        let left: Vec<_> = found.left.iter().map(|(path, why)| (path.as_str(), *why)).collect();
        assert_eq!(left, expected, "{why}");
        let paths: Vec<_> = found.changeset.changes().iter().map(|change| change.path.as_str()).collect();
        assert_eq!(paths, taken_back, "{why}");
        assert_eq!(tree(&bench.at("")), before, "{why}: it only looks");
        let committed = bench.tools.commit(&found.changeset, |digest| done.body(digest), false);
        assert_eq!(committed, Committed::Done, "{why}");
    }
}

#[tokio::test]
async fn what_is_not_to_be_undone_is_left_with_its_part() {
    let bench = Bench::new();
    bench.put("a", "1");
    let done = complete_trial(&bench, &bench.tools, "rm a; mkdir a; echo 1 > a/x; echo 1 > b").await;
    assert_eq!(done.commit(&bench.tools), Committed::Done);
    let left = BTreeMap::from([("a/x".to_owned(), "not_kept")]);
    let found = bench.tools.undoable(&done.trial.changeset.inverse(), left).unwrap();
    let paths: Vec<_> = found.changeset.changes().iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["b"]);
}

#[tokio::test]
async fn a_folder_that_is_not_to_be_undone_is_left() {
    let bench = Bench::new();
    let done = complete_trial(&bench, &bench.tools, "mkdir n; echo 1 > n/x").await;
    assert_eq!(done.commit(&bench.tools), Committed::Done);
    let left = BTreeMap::from([("n".to_owned(), "changed_in_between")]);
    let found = bench.tools.undoable(&done.trial.changeset.inverse(), left).unwrap();
    let paths: Vec<_> = found.changeset.changes().iter().map(|change| change.path.as_str()).collect();
    assert_eq!(paths, ["n/x"]);
}
