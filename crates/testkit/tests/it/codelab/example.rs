//! Tests `examples/codelab/client.py` with the real binary.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Output, Stdio};

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::{plans, served, subtask};
use crate::python::python;

/// Starts a server without a model. The workspace is a copy of the `codelab` sample, and the agents follow the
/// rehearsal script.
async fn rehearsing() -> TestServer {
    let server = TestServer::setup().start().await;
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows/codelab/sample");
    for file in ["README.md", "todo.py", "test_todo.py"] {
        fs::copy(sample.join(file), server.workspace().join(file)).unwrap();
    }
    server
}

async fn client(server: &TestServer, arguments: &[&str]) -> Output {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    play(server.base().to_owned(), server.token().to_owned(), arguments).await
}

async fn play(base: String, token: String, arguments: Vec<String>) -> Output {
    let mut command = python();
    command
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/codelab/client.py"))
        .args(arguments)
        .env("HOLDSHORT_URL", base)
        .env("HOLDSHORT_TOKEN", token)
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
    let output =
        client(&server, &["--yes", "--session", "my session/é?", folder.to_str().unwrap(), "Say hello."])
            .await;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert_eq!(std::fs::read_to_string(folder.join("notes/hello.txt")).unwrap(), "hello\n");
    for line in ["[orchestrator -> code]", "Subtask 2/2: do explain", "[plan completed: 2 of 2]"] {
        assert!(out.contains(line), "no `{line}` in {out}");
    }
    let told = model.requests_of("coder").pop().unwrap().texts().join("\n");
    assert!(told.contains("leads out of the project") && told.contains("exit code 0\nhello"), "{told}");
    super::assert_paired(&model);
}

/// A client whose connection breaks during a call reconnects and continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_comes_back_and_goes_on() {
    let (model, server) = served().await;
    // If the command ran twice, the file would contain a second line.
    let command = "echo once >> times.txt; while [ ! -e go ]; do sleep 0.05; done; cat times.txt";
    model.push("orchestrator", Scripted::call("handoff_to_coder", json!({ "message": "do it" })));
    model.push("coder", Scripted::call("execute_command", json!({ "command": command })));
    model.push("coder", Scripted::text("That was it."));
    let folder = server.workspace().clone();
    let wire = Wire::to(&server).await;
    let arguments = ["--yes", folder.to_str().unwrap(), "Do it."].map(str::to_owned);
    let playing = tokio::spawn(play(wire.base(), server.token().to_owned(), arguments.to_vec()));
    eventually("the command", async || folder.join("times.txt").exists().then_some(())).await;
    wire.cut.send_replace(());
    fs::write(folder.join("go"), "").unwrap();
    let output = playing.await.unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && err.contains("coming back"), "{out}\n{err}");
    assert!(out.contains("That was it."), "{out}");
    assert_eq!(fs::read_to_string(folder.join("times.txt")).unwrap(), "once\n");
}

/// Connection from the example client to the server, which the test can cut. Later connections work.
struct Wire {
    address: SocketAddr,
    cut: watch::Sender<()>,
}

impl Wire {
    async fn to(server: &TestServer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = server.base().strip_prefix("http://").unwrap().to_owned();
        let cut = watch::Sender::new(());
        let cuts = cut.clone();
        tokio::spawn(async move {
            while let Ok((mut near, _)) = listener.accept().await {
                let mut far = TcpStream::connect(&target).await.unwrap();
                // The server only accepts requests with its own host name.
                let mut head = vec![0; 8 * 1024];
                let length = near.read(&mut head).await.unwrap();
                let head = String::from_utf8_lossy(&head[..length]).replace(&address.to_string(), &target);
                far.write_all(head.as_bytes()).await.unwrap();
                let mut is_cut = cuts.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        _ = copy_bidirectional(&mut near, &mut far) => {}
                        _ = is_cut.changed() => {}
                    }
                });
            }
        });
        Self { address, cut }
    }

    fn base(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// The shipped client completes the shipped rehearsal in a copy of the sample.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_client_plays_the_rehearsal_on_the_sample() {
    let server = rehearsing().await;
    let folder = server.workspace();
    let output = client(&server, &["--yes", folder.to_str().unwrap(), "done 1 marks the wrong line"]).await;
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}\n{err}");
    assert!(out.contains("a rehearsal") && out.contains("[plan completed: 3 of 3]"), "{out}");
    assert!(out.contains("`test_done_takes_the_number_that_is_shown` fails."), "{out}");
    assert!(out.contains("the tests pass"), "{out}");
    assert!(fs::read_to_string(folder.join("docs/numbers.md")).unwrap().contains("From 1, everywhere"));
}

/// The shipped agents also complete the rehearsal with tools that run on the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn codelab_plays_on_its_sample() {
    let server = rehearsing().await;
    let input = include_str!("../../../../../workflows/codelab/input.json");
    let config = json!({ "workspace": server.workspace(), "model": "rehearsal" });
    let input: Value = serde_json::from_str(input).unwrap();
    let body = json!({ "workflow": "codelab", "input": input, "config": config });
    let run = server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned();
    let mut kinds = Vec::new();
    for _ in 0..5 {
        let asked = server.wait_one(&run).await;
        kinds.push(asked["kind"].as_str().unwrap().to_owned());
        server.choose(&asked, "approve").await;
    }
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(ended["end_reason"], "done");
    assert_eq!(kinds.join(" "), "plan_approval tool_approval tool_approval tool_approval tool_approval");
    let code = fs::read_to_string(server.workspace().join("todo.py")).unwrap();
    assert_eq!(code.matches("enumerate(lines, 1)").count(), 2);
}
