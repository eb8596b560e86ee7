//! Reads, lists and searches files.

use std::fs;
use std::os::unix::fs::symlink;

use holdshort_core::tool::{Inspection, Outcome};
use holdshort_tools::limits;
use serde_json::json;

use crate::bench::{Bench, text};

#[tokio::test]
async fn a_file_is_read_as_it_is() {
    let bench = Bench::new();
    bench.put("a.txt", "one\r\ntwo");
    let outcome = bench.go("read_file", json!({"path": "a.txt"})).await;
    assert_eq!(
        outcome,
        Outcome::Done { text: "one\r\ntwo".into(), data: json!({"path": "a.txt", "bytes": 8}) }
    );
}

#[tokio::test]
async fn an_inspection_of_a_read_relies_on_nothing() {
    let bench = Bench::new();
    bench.put("a.txt", "one");
    let workspace = fs::canonicalize(bench.at("")).unwrap().to_str().unwrap().to_owned();
    assert_eq!(
        bench.ready("read_file", json!({"path": "./a.txt"})).await,
        Inspection {
            cwd: workspace.clone(),
            workspace,
            preconditions: vec![],
            sandbox: None,
            ask_because: vec![],
            places: vec![],
            proposed: None,
            card: json!({"path": "a.txt"}),
        }
    );
}

#[tokio::test]
async fn files_that_cannot_be_read_as_text() {
    let bench = Bench::new();
    bench.put("binary", [0xff, 0xfe, 0]);
    bench.put("large", vec![b'x'; usize::try_from(limits::READ_BYTES).unwrap() + 1]);
    bench.put("largest", vec![b'x'; usize::try_from(limits::READ_BYTES).unwrap()]);
    nix::unistd::mkfifo(&bench.at("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    for (path, code) in
        [("binary", "not_utf8"), ("large", "too_large"), ("largest", "ready"), ("pipe", "not_a_file")]
    {
        assert_eq!(bench.code("read_file", json!({"path": path})).await, code, "{path}");
    }
}

#[tokio::test]
async fn a_listing_is_sorted_and_marked() {
    let bench = Bench::new();
    for path in ["b.txt", "a/x", ".env", ".git/config", "node_modules/x"] {
        bench.put(path, "");
    }
    symlink("/etc", bench.at("link")).unwrap();
    assert_eq!(text(bench.go("list_directory", json!({})).await), ".env\na/\nb.txt\nlink@\nnode_modules/\n");
    assert_eq!(text(bench.go("list_directory", json!({"path": "a"})).await), "x\n");
    assert_eq!(bench.code("list_directory", json!({"path": "b.txt"})).await, "not_a_directory");
}

#[tokio::test]
async fn a_long_listing_is_cut() {
    let bench = Bench::new();
    for n in 0..limits::LISTING_ENTRIES + 3 {
        bench.put(&format!("{n:05}"), "");
    }
    let text = text(bench.go("list_directory", json!({})).await);
    assert_eq!(text.lines().count(), limits::LISTING_ENTRIES + 1);
    assert!(text.ends_with("(3 more entries are left out)\n"));
}

#[tokio::test]
async fn a_search_finds_lines() {
    let bench = Bench::new();
    bench.put("src/b.rs", "fn main() {\n    needle();\n}\n");
    bench.put("src/a.rs", "// Needle\r\nneedle");
    bench.put(".gitignore", "target/\n");
    bench.put("target/out.rs", "needle");
    bench.put("src/target/out.rs", "needle");
    bench.put(".git/needle", "needle");
    bench.put(".github/ci.yml", "run: needle\n");
    bench.put("image.png", b"\x89PNG\0needle");
    fs::write(bench.root.path().join("data/journal"), "needle").unwrap();
    symlink("../data", bench.at("out")).unwrap();
    symlink("src/a.rs", bench.at("z.rs")).unwrap();
    let search = async |arguments| text(bench.go("search_codebase", arguments).await);
    assert_eq!(
        search(json!({"pattern": "needle"})).await,
        ".github/ci.yml:1: run: needle\nsrc/a.rs:2: needle\nsrc/b.rs:2:     needle();\n"
    );
    assert_eq!(search(json!({"pattern": "(?i)^// needle", "path": "src"})).await, "src/a.rs:1: // Needle\n");
    assert_eq!(search(json!({"pattern": "needle", "path": "src/b.rs"})).await, "src/b.rs:2:     needle();\n");
    assert_eq!(search(json!({"pattern": "absent"})).await, "no line matches\n");
    assert_eq!(bench.code("search_codebase", json!({"pattern": "("})).await, "bad_pattern");
    assert_eq!(bench.code("search_codebase", json!({"pattern": "x", "path": "absent"})).await, "not_found");
}

#[tokio::test]
async fn a_search_ends() {
    let bench = Bench::new();
    bench.put("many", "hit\n".repeat(limits::SEARCH_HITS + 5));
    bench.put("long", format!("only {}", "x".repeat(5000)));
    let many = text(bench.go("search_codebase", json!({"pattern": "hit"})).await);
    assert_eq!(many.lines().count(), limits::SEARCH_HITS + 1);
    let long = text(bench.go("search_codebase", json!({"pattern": "only"})).await);
    assert!(long.chars().count() < limits::SEARCH_LINE_CHARS + 20);
}
