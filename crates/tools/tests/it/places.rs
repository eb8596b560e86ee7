//! Paths in a call that links resolve to other paths.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::bench::Bench;

/// Paths as a tool call names them, each with the resolved path.
type Led<'a> = &'a [(&'a str, Option<&'a str>)];

/// Returns the resolved paths that an inspection reports, with `WS` in place of the workspace path.
async fn places(bench: &Bench, tool: &str, arguments: Value) -> Vec<(String, Option<String>)> {
    let inspection = bench.ready(tool, arguments).await;
    let short = |path: String| path.replace(&inspection.workspace, "WS");
    let places = inspection.places.clone();
    places.into_iter().map(|place| (place.named, place.resolved.map(short))).collect()
}

#[tokio::test]
async fn links_are_told_apart_from_what_they_say() {
    let bench = Bench::new();
    bench.put("secrets/key", "k");
    bench.put("src/a", "a");
    symlink("secrets", bench.at("link")).unwrap();
    symlink("../secrets/key", bench.at("src/known")).unwrap();
    symlink("/nowhere/at/all", bench.at("dangling")).unwrap();
    symlink("not-yet", bench.at("ahead")).unwrap();
    symlink("ahead", bench.at("further")).unwrap();
    symlink("loop", bench.at("loop")).unwrap();
    let rows: [(&str, Value, Led<'_>); 17] = [
        ("read_file", json!({"path": "src/a"}), &[]),
        ("read_file", json!({"path": "link/key"}), &[("link/key", Some("WS/secrets/key"))]),
        ("list_directory", json!({"path": "link"}), &[("link", Some("WS/secrets"))]),
        ("search_codebase", json!({"pattern": "k", "path": "link"}), &[("link", Some("WS/secrets"))]),
        ("run_command", json!({"command": "cat src/a"}), &[]),
        ("run_command", json!({"command": "cat link/key"}), &[("link/key", Some("WS/secrets/key"))]),
        ("run_command", json!({"command": "cat key", "cwd": "link"}), &[("link", Some("WS/secrets"))]),
        (
            "run_command",
            json!({"command": "cd link && cat --file=key"}),
            &[
                ("link", Some("WS/secrets")),
                ("link/--file=key", Some("WS/secrets/--file=key")),
                ("link/key", Some("WS/secrets/key")),
            ],
        ),
        ("run_command", json!({"command": "cat src/k*"}), &[("src/k*", Some("WS/secrets/key"))]),
        ("run_command", json!({"command": "touch link/new"}), &[("link/new", Some("WS/secrets/new"))]),
        ("run_command", json!({"command": "cp src/a ahead"}), &[("ahead", Some("WS/not-yet"))]),
        ("run_command", json!({"command": "cat x > dangling"}), &[("dangling", Some("/nowhere/at/all"))]),
        ("run_command", json!({"command": "cp src/a further"}), &[("further", Some("WS/not-yet"))]),
        ("run_command", json!({"command": "cat loop"}), &[("loop", None)]),
        ("run_command", json!({"command": "cat src/[k]nown"}), &[("src/[k]nown", Some("WS/secrets/key"))]),
        (
            "run_command",
            json!({"command": "cat src/.?/link/key"}),
            &[("src/.?/link/key", Some("WS/secrets/key"))],
        ),
        (
            "run_command",
            json!({"command": "cd src && cat [j-l]*"}),
            &[("src/[j-l]*", Some("WS/secrets/key"))],
        ),
    ];
    for (tool, arguments, expected) in rows {
        let expected: Vec<_> =
            expected.iter().map(|(named, to)| ((*named).to_owned(), to.map(ToOwned::to_owned))).collect();
        assert_eq!(places(&bench, tool, arguments.clone()).await, expected, "{arguments}");
    }
}

/// If a file pattern in a command matches a name that is not UTF-8, the resolved path is unknown.
#[tokio::test]
async fn a_name_that_is_no_text_may_lead_anywhere() {
    let bench = Bench::new();
    fs::create_dir(bench.at("src")).unwrap();
    symlink("../secrets", bench.at("src").join(OsStr::from_bytes(b"l\xff"))).unwrap();
    let told = places(&bench, "run_command", json!({"command": "cat src/l*"})).await;
    assert_eq!(told, [("src/l*".to_owned(), None)]);
}

#[tokio::test]
async fn beyond_the_limit_a_call_may_be_anywhere() {
    let bench = Bench::new();
    fs::create_dir(bench.at("real")).unwrap();
    let mut line = "cat".to_owned();
    for n in 0..=holdshort_tools::limits::PLACES {
        symlink("real", bench.at(&format!("l{n}"))).unwrap();
        let _ = write!(line, " l{n}");
    }
    let told = places(&bench, "run_command", json!({"command": line})).await;
    assert_eq!(told.len(), holdshort_tools::limits::PLACES + 1);
    assert_eq!(told.last(), Some(&(String::new(), None)));
    assert_eq!(
        places(&bench, "run_command", json!({"command": "cd - && cat x"})).await,
        [(String::new(), None)]
    );
}
