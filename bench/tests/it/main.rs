//! Runs every command of the bench for a moment, to find broken commands. No test checks a figure.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const BENCH: &str = env!("CARGO_BIN_EXE_holdshort-bench");

/// Returns the path of the server's program `holdshort`. A build of the workspace puts it in the folder of the bench's
/// program.
fn server_program() -> PathBuf {
    Path::new(BENCH).with_file_name("holdshort")
}

/// Runs a command of the bench, which must succeed. Returns the printed text.
fn printed(arguments: &[&str]) -> String {
    let ran = Command::new(BENCH).args(arguments).output().expect("the bench starts");
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{arguments:?}: {out}{err}");
    out.into_owned()
}

#[test]
fn cycles_in_both_stores() {
    let text = printed(&["--quick"]);
    for row in ["external, SQLite", "native, SQLite", "external, PostgreSQL", "native, PostgreSQL"] {
        assert!(text.contains(&format!("### {row}")), "{row}: {text}");
    }
}

#[test]
fn audits() {
    assert!(printed(&["audit", "--events", "400"]).contains("## "));
}

#[test]
fn parked_runs() {
    assert!(printed(&["parked", "--runs", "700"]).contains("## "));
}

#[test]
fn streams() {
    assert!(printed(&["streams", "--clients", "8", "--events", "2", "--no-slow"]).contains("## "));
}

#[test]
fn trials() {
    assert!(printed(&["trials", "--files", "200", "--rounds", "1"]).contains("## "));
}

#[test]
fn turns() {
    assert!(printed(&["turns", "--turns", "2"]).contains("## "));
}

/// Tests that the table of other systems is made from stored results, because these systems come from registries and
/// are measured by hand.
#[test]
fn table_of_the_peers() {
    assert!(printed(&["peers", "--table"]).contains("## Peers"));
}

/// A measured server that ends with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn load_on_a_server_that_runs_already() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(server_program());
    command.args(["serve", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(folder.path().join("data"));
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the server starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut line).expect("a line");
    let _serving = Serving(child);
    let ready: Value = serde_json::from_str(&line).expect("JSON");
    let text = |key: &str| ready[key].as_str().expect("a text");
    let address = text("listening").trim_start_matches("http://");
    let said = printed(&[
        "load",
        address,
        "--token",
        text("token"),
        "--agent-token",
        text("agent_token"),
        "--seconds",
        "1",
    ]);
    assert!(said.contains("cycles"), "{said}");
}
