//! `examples/codelab/client.py`, as it stands in the repository, against the real binary.

use std::process::{Command, Output, Stdio};

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::TestServer;
use serde_json::json;

use super::{plans, served, subtask};

/// One that has the package: on a fresh machine Debian's.
fn python() -> &'static str {
    let has_it = |python: &&str| {
        let import = Command::new(python).args(["-c", "import websockets"]).stderr(Stdio::null()).status();
        import.is_ok_and(|status| status.success())
    };
    ["python3", "/usr/bin/python3"].into_iter().find(has_it).expect("python3-websockets is installed")
}

async fn client(server: &TestServer, arguments: &[&str]) -> Output {
    let mut command = Command::new(python());
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/codelab/client.py"))
        .args(arguments)
        .env("HOLDSHORT_URL", server.base())
        .env("HOLDSHORT_TOKEN", server.token())
        .stdin(Stdio::null());
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_approves_a_plan_and_runs_its_calls() {
    let (model, server) = served().await;
    let graph = [subtask("write", "coder", &[]), subtask("explain", "ask", &["write"])];
    model.push("orchestrator", plans(&graph));
    let write = ("write_file", json!({ "path": "notes/hello.txt", "content": "hello\n" }));
    let outside = ("read_file", json!({ "path": "../../etc/passwd" }));
    model.push("coder", Scripted::calls([write, outside]));
    model.push("coder", Scripted::call("execute_command", json!({ "command": "cat notes/hello.txt" })));
    model.push("coder", Scripted::text("It says hello."));
    model.push("ask", Scripted::text("That is all."));
    let folder = server.workspace();
    let output = client(&server, &["--yes", "--session", "s", folder.to_str().unwrap(), "Say hello."]).await;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(std::fs::read_to_string(folder.join("notes/hello.txt")).unwrap(), "hello\n");
    for line in ["[orchestrator -> coder]", "Subtask 2/2: do explain", "[plan completed: 2 of 2]"] {
        assert!(out.contains(line), "no `{line}` in {out}");
    }
    let told = model.requests_of("coder").pop().unwrap().texts().join("\n");
    assert!(told.contains("leads out of the project") && told.contains("exit code 0\nhello"), "{told}");
    super::assert_paired(&model);
}
