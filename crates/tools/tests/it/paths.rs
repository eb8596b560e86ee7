//! File tools can reach only paths in the workspace, and no path in `.git`.

use std::fs;
use std::os::unix::fs::symlink;

use holdshort_core::tool::{Outcome, Precondition};
use serde_json::json;

use crate::bench::Bench;

fn bench() -> Bench {
    let bench = Bench::new();
    bench.put("src/a.txt", "inside\n");
    bench.put(".git/config", "secret\n");
    bench.put("sub/.GIT/config", "secret\n");
    fs::write(bench.root.path().join("data/journal"), "outside\n").unwrap();
    symlink("../data", bench.at("out")).unwrap();
    symlink("/etc", bench.at("absolute")).unwrap();
    symlink("../../workspace/src", bench.at("src/around")).unwrap();
    symlink("src", bench.at("in")).unwrap();
    symlink(".git", bench.at("repository")).unwrap();
    symlink("src/a.txt", bench.at("a-link")).unwrap();
    symlink("loop-b", bench.at("loop-a")).unwrap();
    symlink("loop-a", bench.at("loop-b")).unwrap();
    bench
}

#[tokio::test]
async fn reading() {
    let bench = bench();
    let cases = [
        ("src/a.txt", "ready"),
        ("./src//a.txt", "ready"),
        ("in/a.txt", "ready"),
        ("a-link", "ready"),
        ("", "bad_path"),
        ("a\0b", "bad_path"),
        ("/etc/passwd", "outside_workspace"),
        ("../data/journal", "outside_workspace"),
        ("src/../../data/journal", "outside_workspace"),
        ("src/../src/a.txt", "outside_workspace"),
        ("out/journal", "outside_workspace"),
        ("absolute/passwd", "outside_workspace"),
        ("src/around/a.txt", "outside_workspace"),
        ("loop-a", "symlink"),
        (".git/config", "protected_path"),
        ("sub/.GIT/config", "protected_path"),
        ("repository/config", "protected_path"),
        ("missing", "not_found"),
        ("src", "not_a_file"),
        (".", "bad_path"),
        ("src/", "bad_path"),
        ("src/a.txt/", "bad_path"),
        ("src/.", "bad_path"),
        ("src/a.txt/b", "not_a_directory"),
    ];
    for (path, expected) in cases {
        assert_eq!(bench.code("read_file", json!({"path": path})).await, expected, "{path:?}");
        // Running a call applies the same rules as inspecting it.
        let ran = bench.run("read_file", json!({"path": path}), &[]).await;
        assert_eq!(matches!(ran, Outcome::Done { .. }), expected == "ready", "{path:?}: {ran:?}");
    }
}

#[tokio::test]
async fn writing() {
    let bench = bench();
    let cases = [
        ("new/deep/file", "ready"),
        ("in/new.txt", "ready"),
        ("/tmp/x", "outside_workspace"),
        ("../x", "outside_workspace"),
        ("out/x", "outside_workspace"),
        ("absolute/x", "outside_workspace"),
        (".git/hooks/pre-commit", "protected_path"),
        ("sub/.GIT/x", "protected_path"),
        ("new/.Git/x", "protected_path"),
        ("repository/config", "protected_path"),
        ("a-link", "symlink"),
        ("src", "not_a_file"),
        ("src/a.txt/b", "not_a_directory"),
        (".", "bad_path"),
        ("new/", "bad_path"),
        ("new/.", "bad_path"),
        (&"x".repeat(256), "bad_path"),
        (&"x".repeat(255), "ready"),
        (&"x/".repeat(2_048), "bad_path"),
    ];
    for (path, expected) in cases {
        let arguments = json!({"path": path, "content": "x"});
        assert_eq!(bench.code("write_file", arguments.clone()).await, expected, "{path:?}");
        if expected != "ready" {
            let forged = [Precondition { path: path.to_owned(), sha256: None }];
            let ran = bench.run("write_file", arguments, &forged).await;
            assert!(!matches!(ran, Outcome::Done { .. }), "{path:?}");
        }
    }
    assert_eq!(
        bench.ready("write_file", json!({"path": "in/new.txt", "content": "x"})).await.preconditions,
        [Precondition { path: "src/new.txt".to_owned(), sha256: None }]
    );
}

#[tokio::test]
async fn a_link_put_on_the_way_after_the_inspection_leads_nowhere() {
    let bench = bench();
    let arguments = json!({"path": "src/b.txt", "content": "x"});
    let inspection = bench.ready("write_file", arguments.clone()).await;
    fs::rename(bench.at("src"), bench.at("gone")).unwrap();
    symlink("../data", bench.at("src")).unwrap();
    let ran = bench.run("write_file", arguments, &inspection.preconditions).await;
    assert_eq!(ran, Outcome::Changed { paths: vec!["src/b.txt".to_owned()] });
    assert!(!bench.root.path().join("data/b.txt").exists());
}

#[tokio::test]
async fn listing_searching_and_working_directories_hold_the_same_line() {
    let bench = bench();
    for path in ["..", "/etc", "out", "absolute", ".git", "repository"] {
        let expected =
            if path.contains("git") || path == "repository" { "protected_path" } else { "outside_workspace" };
        assert_eq!(bench.code("list_directory", json!({"path": path})).await, expected, "{path}");
        assert_eq!(
            bench.code("search_codebase", json!({"pattern": "x", "path": path})).await,
            expected,
            "{path}"
        );
        assert_eq!(
            bench.code("run_command", json!({"command": "ls", "cwd": path})).await,
            expected,
            "{path}"
        );
    }
}

#[tokio::test]
async fn unknown_tools_and_arguments_do_nothing() {
    let bench = bench();
    assert_eq!(bench.code("format_disk", json!({})).await, "unknown_tool");
    assert_eq!(bench.code("ask_human", json!({"question": "?"})).await, "unknown_tool");
    assert_eq!(bench.code("read_file", json!({"path": "src/a.txt", "mode": "rw"})).await, "bad_arguments");
}
