//! A trial changes nothing. Its changes are committed and undone exactly as they were shown.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};

use holdshort_core::changeset::{Change, Changeset, Entry};
use holdshort_core::digest::Digest;
use holdshort_tools::{CommandTrialOutcome, Committed, Layers, Tools, Trial};
use serde_json::json;

use crate::bench::{Bench, call};
use crate::tree::{Tree, tree};

pub(crate) struct TriedCommand {
    pub trial: Trial,
    pub bodies: BTreeMap<Digest, Vec<u8>>,
}

impl TriedCommand {
    pub(crate) fn body(&self, digest: Digest) -> io::Result<Vec<u8>> {
        self.bodies.get(&digest).cloned().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    pub(crate) fn commit(&self, tools: &Tools) -> Committed {
        tools.commit(&self.trial.changeset, |digest| self.body(digest), false)
    }

    pub(crate) fn undo(&self, tools: &Tools) -> Committed {
        tools.commit(&self.trial.changeset.inverse(), |digest| self.body(digest), false)
    }

    /// Returns the paths that the tried command changed, each with a sign for the kind of its change.
    pub(crate) fn marked_paths(&self) -> Vec<String> {
        self.trial.changeset.changes().iter().map(mark_change).collect()
    }
}

fn mark_change(change: &Change) -> String {
    let sign = match (&change.before, &change.after) {
        (None, _) => "+",
        (_, None) => "-",
        (Some(_), Some(_)) => "~",
    };
    format!("{sign}{}", change.path)
}

pub(crate) async fn tried(tools: &Tools, line: &str) -> CommandTrialOutcome {
    tools.try_command(&call("run_command", json!({"command": line})), &[], |_| {}).await
}

/// Runs a command as a trial. Checks that the command ended by itself and left the workspace unchanged.
pub(crate) async fn complete_trial(bench: &Bench, tools: &Tools, line: &str) -> TriedCommand {
    let before = tree(&bench.at(""));
    let trial = match tried(tools, line).await {
        CommandTrialOutcome::Yielded(trial) => trial,
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(tree(&bench.at("")), before, "{line}: a trial changed the workspace");
    let bodies = trial.bodies().collect::<io::Result<_>>().unwrap();
    TriedCommand { trial, bodies }
}

/// Returns tools that use an overlay for trials, and tools that use a copy.
fn both(bench: &Bench) -> [Tools; 2] {
    [Layers::Overlay, Layers::Copy].map(|layers| bench.tools_with(|settings| settings.layers = layers))
}

fn filled() -> Bench {
    let bench = Bench::new();
    for (path, content) in [("a.txt", "one\n"), ("b.txt", "two\n"), ("d/x", "x"), ("d/e/y", "y")] {
        bench.put(path, content);
    }
    symlink("a.txt", bench.at("link")).unwrap();
    bench
}

#[tokio::test]
async fn what_a_command_did_is_told_and_then_done_and_taken_back() {
    let table: [(&str, &[&str]); 14] = [
        ("true", &[]),
        ("cat a.txt; touch b.txt", &[]),
        ("echo one > a.txt; chmod 600 b.txt; chmod 644 b.txt", &[]),
        ("mv d f && mv f d", &[]),
        ("echo more >> a.txt", &["~a.txt"]),
        ("chmod 755 a.txt", &["~a.txt"]),
        ("rm -r d", &["-d", "-d/e", "-d/e/y", "-d/x"]),
        ("rm -r d; mkdir d; echo z > d/z", &["-d/e", "-d/e/y", "-d/x", "+d/z"]),
        ("rm -r d; mkdir -p d/e; echo z > d/e/z", &["-d/e/y", "+d/e/z", "-d/x"]),
        ("mv d f", &["-d", "-d/e", "-d/e/y", "-d/x", "+f", "+f/e", "+f/e/y", "+f/x"]),
        ("rm -r d; echo file > d", &["~d", "-d/e", "-d/e/y", "-d/x"]),
        ("rm a.txt; mkdir a.txt; echo z > a.txt/z", &["~a.txt", "+a.txt/z"]),
        ("ln -sf b.txt link; ln -s nowhere new", &["~link", "+new"]),
        ("chmod 700 d; mkdir -p -m 555 r; echo z > $(printf 'n\\377')", &["~d", "+n\\xff", "+r"]),
    ];
    for (line, expected) in table {
        for run in 0..2 {
            let bench = filled();
            let tools = &both(&bench)[run];
            let before = tree(&bench.at(""));
            let kept = complete_trial(&bench, tools, line).await;
            assert_eq!(kept.trial.over, [Layers::Overlay, Layers::Copy][run]);
            assert_eq!(kept.marked_paths(), expected, "{line}");
            assert_eq!(kept.trial.codes, Vec::<String>::new(), "{line}");
            assert_eq!(kept.commit(tools), Committed::Done, "{line}");
            let after = tree(&bench.at(""));
            assert_eq!(after == before, expected.is_empty(), "{line}");
            assert_eq!(after, ran(line), "{line}");
            assert_eq!(kept.undo(tools), Committed::Done, "{line}");
            assert_eq!(tree(&bench.at("")), before, "{line}");
        }
    }
}

/// Returns the files of the same workspace after the command has run there without a trial.
fn ran(line: &str) -> Tree {
    let bench = filled();
    let ended = std::process::Command::new("/bin/sh").args(["-c", line]).current_dir(bench.at("")).status();
    assert!(ended.unwrap().success(), "{line}");
    tree(&bench.at(""))
}

#[tokio::test]
async fn the_result_is_that_of_a_command_that_ran() {
    let bench = filled();
    let kept = complete_trial(&bench, &bench.tools, "echo out; echo x > new; exit 3").await;
    assert_eq!(kept.trial.text, "out\nexit code 3");
    let mut data = kept.trial.data.clone();
    assert!(data["duration_ms"].take().is_u64());
    let expected = json!({"exit_code": 3, "truncated": false, "sandbox": "full", "timed_out": false, "duration_ms": null});
    assert_eq!(data, expected);
    let digest = Digest::of_bytes(b"x\n");
    let mode = fs::metadata(bench.at("a.txt")).unwrap().permissions().mode() & 0o777;
    let new = Change {
        path: "new".into(),
        before: None,
        after: Some(Entry::File { digest, bytes: 2, mode }),
        ignored: false,
    };
    assert_eq!(kept.trial.changeset, Changeset::new(vec![new]).unwrap());
    assert_eq!(kept.bodies, BTreeMap::from([(digest, b"x\n".to_vec())]));
}

#[tokio::test]
async fn where_something_else_stands_nothing_is_touched() {
    let bench = filled();
    let kept = complete_trial(&bench, &bench.tools, "echo 1 >> a.txt; echo 1 >> b.txt; rm -r d").await;
    bench.put("b.txt", "mine");
    bench.put("d/mine", "mine");
    let before = tree(&bench.at(""));
    let paths = ["b.txt", "d/mine"].map(ToOwned::to_owned).to_vec();
    assert_eq!(kept.commit(&bench.tools), Committed::Conflict { paths, done: Vec::new() });
    assert_eq!(tree(&bench.at("")), before);
}

#[tokio::test]
async fn what_git_ignores_is_told() {
    let bench = Bench::new();
    bench.put(".gitignore", "target/\n*.log\n!keep.log\n/only-here\n");
    bench.put("sub/.gitignore", "*.tmp\n!x.log\n");
    bench.put(".git/info/exclude", "private\n");
    bench.put("target/old", "");
    // A nested repository, and a folder whose `.git` is a file, as in a worktree or submodule.
    bench.put("target/repository/.git/HEAD", "ref: refs/heads/main\n");
    bench.put("target/worktree/.git", "gitdir: elsewhere\n");
    let paths = [
        ("target/repository/x", false),
        ("target/repository/deep/x", false),
        ("target/worktree/x", false),
        ("a.log", true),
        ("keep.log", false),
        ("target/x", true),
        ("target/keep.log", true),
        ("target/old", true),
        ("sub/target/y", true),
        ("only-here", true),
        ("sub/only-here", false),
        ("sub/a.tmp", true),
        ("a.tmp", false),
        ("sub/x.log", false),
        ("private", true),
        (".git/x.log", false),
        // Ignore rules that the command itself writes do not apply to its changes.
        ("new/.gitignore", false),
        ("new/x", false),
    ];
    let line: Vec<String> =
        paths.iter().map(|(path, _)| format!("mkdir -p $(dirname {path}); echo '*' > {path}")).collect();
    let kept = complete_trial(&bench, &bench.tools, &line.join("; ")).await;
    for (path, expected) in paths {
        let change = kept.trial.changeset.changes().iter().find(|change| change.path == path);
        assert_eq!(change.map(|change| change.ignored), Some(expected), "{path}");
    }
}

/// A file that Git tracks is not ignored, whatever the patterns say, in each version of Git's index.
#[tokio::test]
async fn what_git_tracks_is_not_ignored() {
    for version in ["2", "3", "4"] {
        let bench = Bench::new();
        let names = ["a.log", "folder/a.log", "folder/ab.log", "folder/longer-than-the-one-before.log"];
        for name in names {
            bench.put(name, "");
        }
        bench.put(".gitignore", "*.log\n");
        let git = |arguments: &[&str]| {
            let ran =
                std::process::Command::new("git").args(arguments).current_dir(bench.at("")).output().unwrap();
            assert!(ran.status.success(), "{arguments:?}: {ran:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "-f", "."]);
        // `--skip-worktree` needs the longer index entries of version 3.
        git(&["update-index", "--skip-worktree", "folder/a.log"]);
        git(&["update-index", "--index-version", version]);
        let kept =
            complete_trial(&bench, &bench.tools, "for f in *.log folder/*.log new.log; do echo x > $f; done")
                .await;
        let ignored = kept.trial.changeset.changes().iter().filter(|change| change.ignored);
        assert_eq!(ignored.map(|change| change.path.as_str()).collect::<Vec<_>>(), ["new.log"], "{version}");
        // If the index cannot be parsed, every path is treated as tracked.
        bench.put(".git/index", "DIRC????????");
        let kept = self::complete_trial(&bench, &bench.tools, "echo x > new.log").await;
        assert!(!kept.trial.changeset.changes()[0].ignored);
    }
}
