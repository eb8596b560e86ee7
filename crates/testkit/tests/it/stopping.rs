//! A person stops a command, over the real binary. The command's output is visible while it runs. After the stop, all
//! processes of the command end, a stopped trial leaves no change, and the run continues.

use std::fs;

use futures::{SinkExt, StreamExt};
use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::cluster::{Cluster, database};
use crate::play::{command, done, last_told, one, play};

pub(crate) const TRYING: &str = "
name: solo
agents:
  solo:
    instructions: Work.
    tools: [run_command]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  trial: on
  rules:
    - {tools: [run_command], changes: none, do: allow}
";

/// Returns a command line that prints, writes a file, and then runs longer than any test. `seconds` identifies the
/// process.
pub(crate) fn long(seconds: &str) -> String {
    format!("echo begun; echo new > made.txt; sleep {seconds}; echo over")
}

/// Returns true if a process on this machine runs `sleep` with this argument.
fn sleeps(seconds: &str) -> bool {
    let wanted = format!("sleep\0{seconds}\0");
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .any(|process| fs::read(process.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()))
}

pub(crate) async fn runs(seconds: &str) {
    eventually("the command runs", async || sleeps(seconds).then_some(())).await;
}

pub(crate) async fn is_gone(seconds: &str) {
    eventually("its processes are gone", async || (!sleeps(seconds)).then_some(())).await;
}

async fn stop(server: &TestServer, run: &str, call: &str, body: &Value) -> (u16, String) {
    let answer = server.post(&format!("/v1/runs/{run}/calls/{call}/stop"), body).await;
    let status = answer.status;
    (status, answer.body["code"].as_str().unwrap_or_default().to_owned())
}

/// Follows the run over a WebSocket. Returns the preview of a tool call's output as soon as the preview contains
/// `wanted`.
async fn previewed(server: &TestServer, run: &str, call: &str, wanted: &str) -> String {
    let url = format!("{}/v1/ws", server.base().replacen("http", "ws", 1));
    let mut request = url.into_client_request().unwrap();
    request.headers_mut().insert("authorization", format!("Bearer {}", server.token()).parse().unwrap());
    let (mut socket, _) = connect_async(request).await.unwrap();
    for frame in [
        json!({ "type": "hello" }),
        json!({ "type": "subscribe", "id": "r", "topic": "run", "run": run, "since": 0, "previews": true }),
    ] {
        socket.send(Message::text(frame.to_string())).await.unwrap();
    }
    let mut shown = String::new();
    while !shown.contains(wanted) {
        let Message::Text(text) = socket.next().await.unwrap().unwrap() else { continue };
        let frame: Value = serde_json::from_str(&text).unwrap();
        if frame["type"] == "preview" && frame["preview"]["call"] == call {
            assert_eq!(frame["preview"]["kind"], "output");
            shown.push_str(frame["preview"]["text"].as_str().unwrap());
        }
    }
    shown
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trial_is_watched_and_stopped_and_its_run_goes_on() {
    // Print as long as the command runs, so that a late follower also sees output.
    let line = format!("echo new > made.txt; while true; do echo tick; sleep 0.1; done & {}", long("611.25"));
    let (model, server) = play(TRYING, [one(command(&line)), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    runs("611.25").await;
    let shown =
        tokio::time::timeout(holdshort_testkit::server::PATIENCE, previewed(&server, &run, "call_1", "tick"));
    shown.await.expect("the output of a trial is previewed");

    assert_eq!(stop(&server, &run, "call_9", &json!({})).await, (404, "not_found".to_owned()));
    let too_much = json!({ "text": "x".repeat(70_000) });
    assert_eq!(stop(&server, &run, "call_1", &too_much).await, (422, "invalid_request".to_owned()));
    assert_eq!(stop(&server, &run, "call_1", &json!({ "text": "Use the script." })).await.0, 200);
    server.wait_status(&run, &["completed"]).await;
    is_gone("611.25").await;
    assert!(!server.workspace().join("made.txt").exists(), "it was only tried");
    let told = last_told(&model);
    for part in [
        "begun",
        "tick",
        "killed: a person stopped the command",
        "A person stopped this command. It ran only in a trial, so nothing has changed. The person says: \
         Use the script.",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let story = server.story(&run).await;
    let place = |kind: &str| story.iter().position(|event| event == kind).unwrap();
    assert!(place("trial_started") < place("tool_stopped"), "{story:?}");
    assert!(place("tool_stopped") < place("tool_finished"), "{story:?}");
    assert!(!story.contains(&"interrupt_opened".to_owned()), "nobody was asked: {story:?}");
    let stopped = server.events_of(&run, "tool_stopped").await;
    assert_eq!(stopped[0]["actor"]["role"], "operator");
    let finished = server.events_of(&run, "tool_finished").await;
    assert_eq!(
        (&finished[0]["data"]["end"], &finished[0]["data"]["code"]),
        (&json!("refused"), &json!("stopped"))
    );
    assert_eq!(stop(&server, &run, "call_1", &json!({})).await, (409, "run_ended".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_holds_whatever_becomes_of_the_server() {
    let (model, mut server) = play(TRYING, [one(command(&long("612.25"))), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    runs("612.25").await;
    assert_eq!(stop(&server, &run, "call_1", &json!({})).await.0, 200);
    server.kill();
    server.restart().await;
    server.wait_status(&run, &["completed"]).await;
    is_gone("612.25").await;
    assert!(!server.workspace().join("made.txt").exists());
    assert_eq!(server.events_of(&run, "trial_started").await.len(), 1, "it did not begin again");
    assert!(last_told(&model).contains("A person stopped this command. It ran only in a trial"));
}

/// A person stops a command in the workspace from the command line, which finds the running call by itself. The agent
/// learns that the command may have done part of its work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_in_the_workspace_is_stopped_and_says_that_it_may_have_done_a_part() {
    let (model, server) =
        play(crate::play::SOLO, [one(command(&long("613.25"))), one(command("true")), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(stop(&server, &run, "call_1", &json!({})).await, (409, "not_stoppable".to_owned()));
    server.choose(&asked, "approve").await;
    runs("613.25").await;
    let stop_it = || server.client_command().args(["stop", &run, "--text", "Enough."]).output().unwrap();
    let said = stop_it();
    assert!(said.status.success(), "{said:?}");
    assert_eq!(
        String::from_utf8_lossy(&said.stdout),
        "The command of the call call_1 is stopped. The run continues, and the agent gets a message that the \
        command was stopped.\n"
    );
    is_gone("613.25").await;
    let finished = eventually("it ends", async || server.events_of(&run, "tool_finished").await.pop()).await;
    assert_eq!((&finished["data"]["end"], &finished["data"]["code"]), (&json!("failed"), &json!("stopped")));
    // A second stop changes nothing, even after the call has ended.
    assert_eq!(stop(&server, &run, "call_1", &json!({})).await.0, 200);
    assert_eq!(server.events_of(&run, "tool_stopped").await.len(), 1);
    let said = stop_it();
    assert!(
        !said.status.success()
            && String::from_utf8_lossy(&said.stderr).contains("no command of the run run_"),
        "{said:?}"
    );
    server.choose(&server.wait_one(&run).await, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(server.workspace().join("made.txt").exists(), "it had come so far");
    let told = last_told(&model);
    assert!(told.contains("may have done a part of its work. The person says: Enough."), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_stops_what_one_tries() {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(command(&long("614.25"))), done()]);
    let url = database().await;
    let mut nodes = Vec::new();
    for name in ["a", "b"] {
        let setup = TestServer::setup().workflow("solo", TRYING).model(&model).database(&url, name);
        nodes.push(setup.start().await);
    }
    let cluster = Cluster { model, nodes };
    let [a, b] = &cluster.nodes[..] else { panic!() };
    let run = a.start_run("solo", "Do it.").await;
    runs("614.25").await;
    assert_eq!(cluster.driver(1, &run).await.as_deref(), Some("a"));
    assert_eq!(stop(b, &run, "call_1", &json!({ "text": "From afar." })).await.0, 200);
    b.wait_status(&run, &["completed"]).await;
    is_gone("614.25").await;
    assert!(!a.workspace().join("made.txt").exists());
    let told = last_told(&cluster.model);
    assert!(told.contains("begun") && told.contains("The person says: From afar."), "{told}");
    cluster.assert_one_story(&run).await;
}
