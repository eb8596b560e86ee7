//! SIGTERM to a busy server. No new work starts, running work may finish, and no outcome is left unknown.

use std::time::Duration;

use holdshort_testkit::clock::mix;
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};

use crate::play::{command, done, one, play};

/// Workflow whose commands run without approval.
const FREE: &str = "
name: solo
agents:
  solo:
    instructions: Work.
    tools: [run_command]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  rules:
    - {tools: [run_command], do: allow}
";

#[tokio::test]
async fn after_sigterm_a_command_ends_and_no_model_is_asked() {
    a_command_ends_and_no_model_is_asked(|server| server.signal("TERM")).await;
}

/// After Ctrl-C in a terminal, a running command ends by itself. Ctrl-C sends a signal to the server's process group,
/// and the command is not in that group.
#[tokio::test]
async fn after_ctrl_c_a_command_ends_and_no_model_is_asked() {
    a_command_ends_and_no_model_is_asked(TestServer::press_ctrl_c).await;
}

async fn a_command_ends_and_no_model_is_asked(stop: fn(&TestServer)) {
    let waits = "echo one >> count.txt; while ! [ -e go ]; do sleep 0.05; done; echo two >> count.txt";
    let script = [one(command(waits)), one(command("echo three >> count.txt")), done()];
    let model = ScriptedModel::start().await;
    model.script("solo", script);
    let setup = TestServer::setup().workflow("solo", FREE).model(&model).in_a_terminal();
    let mut server = setup.start().await;
    let run = server.start_run("solo", "count").await;
    // No rule can release a shell loop, so the command asks.
    server.choose(&server.wait_one(&run).await, "approve").await;
    eventually("the command runs", async || (server.lines("count.txt") == 1).then_some(())).await;
    let base = server.base().to_owned();
    stop(&server);
    // When the server accepts no more connections, it has received the signal.
    let client = holdshort_http::plain().no_proxy().build().unwrap();
    let gone = async || client.get(format!("{base}/healthz")).send().await.is_err().then_some(());
    eventually("the server stops", gone).await;
    std::fs::write(server.workspace().join("go"), "").unwrap();
    server.wait_until_ended().await;
    assert_eq!((server.lines("count.txt"), model.requests().len()), (2, 1));

    server.start().await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!((server.lines("count.txt"), model.requests().len()), (3, 3));
    let story = server.story(&run).await;
    let ended = story.iter().position(|event| event == "tool_finished").unwrap();
    assert!(!story[..ended].contains(&"adopted".to_owned()), "{story:?}");
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 1, "{story:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_server_restarts_without_a_doubt() {
    const RUNS: usize = 4;
    const COMMANDS: usize = 30;
    const RESTARTS: u64 = 8;
    let counts = |n: usize| one(command(&format!("sleep 0.{}; echo {n} >> count.txt", 1 + n % 3)));
    let script: Vec<Scripted> = (1..=COMMANDS).map(counts).chain([done()]).collect();
    let (_model, mut server) = play(FREE, script).await;
    let mut runs = Vec::new();
    for n in 0..RUNS {
        let folder = server.workspace().join(format!("w{n}"));
        std::fs::create_dir(&folder).unwrap();
        let mut body = server.run_body("solo", "count");
        body["config"]["workspace"] = folder.to_str().unwrap().into();
        let run = server.post("/v1/runs", &body).await.ok();
        runs.push((run["id"].as_str().unwrap().to_owned(), format!("w{n}/count.txt")));
    }
    let written = |server: &TestServer| -> usize { runs.iter().map(|(_, file)| server.lines(file)).sum() };
    for restart in 0..RESTARTS {
        // Stop the server during its work, after this process has completed some work.
        let before = written(&server);
        eventually("work is done", async || (written(&server) > before + RUNS).then_some(())).await;
        tokio::time::sleep(Duration::from_millis(mix(restart) % 200)).await;
        assert!(server.stop().await.success());
        server.start().await;
    }
    let expected: Vec<String> = (1..=COMMANDS).map(|n| n.to_string()).collect();
    for (run, file) in &runs {
        server.wait_status(run, &["completed"]).await;
        let written = std::fs::read_to_string(server.workspace().join(file)).unwrap();
        assert_eq!(written.lines().collect::<Vec<_>>(), expected, "{file}");
        assert_eq!(server.events_of(run, "interrupt_opened").await, [] as [serde_json::Value; 0]);
        assert_eq!(server.events_of(run, "tool_started").await.len(), COMMANDS);
    }
}
