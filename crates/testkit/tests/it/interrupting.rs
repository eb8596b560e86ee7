//! A person interrupts a run over the real binary: during a reply, a command, a trial or several steps, at a different
//! node, and around a crash. Existing results are kept, and the run continues with the person's message.

use std::fs;
use std::time::{Duration, Instant};

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, aborting, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::aborts::{StoryProgress, play_each, play_until_over};
use crate::cluster::{Cluster, database};
use crate::demo::ABORT_AFTER;
use crate::play::{command, count, done, last_told, one, play, write};
use crate::stopping::{TRYING, is_gone, long, runs};

/// Longest time that a person has to wait for the effect of an interruption (issue 16).
const AT_ONCE: Duration = Duration::from_secs(1);

/// Workflow whose commands need no approval and run directly in the workspace.
const FREE: &str = "
name: solo
agents:
  solo:
    instructions: Work.
    tools: [read_file, write_file, run_command, ask_human]
phases:
  - {id: work, kind: one_shot, agent: solo}
gates:
  rules:
    - {tools: [run_command, ask_human], do: allow}
";

const SAID: &str = "I will write all of it with blanks, as it was before";

fn held() -> Scripted {
    Scripted::Held(SAID.to_owned())
}

async fn interrupt(server: &TestServer, run: &str, body: &Value) -> Value {
    let before = Instant::now();
    let answer = server.post(&format!("/v1/runs/{run}/interrupt"), body).await.ok();
    assert!(before.elapsed() < AT_ONCE, "{:?}", before.elapsed());
    answer
}

/// Waits until the model has received `n` requests and listeners have received all text that the model streams.
async fn streams(model: &ScriptedModel, n: usize) {
    model.wait_for_requests(n).await;
    // No event says that listeners have received the text. The chunks of the stream arrive quickly on loopback.
    tokio::time::sleep(Duration::from_millis(300)).await;
}

fn messages(model: &ScriptedModel) -> Vec<(String, String)> {
    let last = model.requests().pop().expect("the model was asked");
    let messages = last.body["messages"].as_array().unwrap().clone();
    let roles = messages.iter().map(|message| message["role"].as_str().unwrap().to_owned());
    roles.zip(last.texts()).skip(2).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reply_is_interrupted_and_what_was_said_is_kept() {
    let (model, server) = play(FREE, [held(), done()]).await;
    let run = server.start_run("solo", "Write it.").await;
    streams(&model, 1).await;
    let before = Instant::now();
    let at = interrupt(&server, &run, &json!({})).await;
    assert_eq!(at["open_interrupts"].as_array().unwrap().len(), 1);
    let turn = server.wait_one(&run).await;
    assert!(before.elapsed() < AT_ONCE, "{:?}", before.elapsed());
    model.wait_for_hang_ups(1).await;
    assert_eq!((&turn["kind"], &turn["position"]), (&json!("turn"), &json!("interruption")));
    let options: Vec<&str> =
        turn["options"].as_array().unwrap().iter().map(|option| option["id"].as_str().unwrap()).collect();
    assert_eq!(options, ["submit", "continue", "done"]);
    let again = interrupt(&server, &run, &json!({})).await;
    assert_eq!((&again["seq"], &again["status"]), (&server.run(&run).await["seq"], &json!("waiting")));
    let stopped = server.events_of(&run, "model_stopped").await;
    assert_eq!((stopped.len(), &stopped[0]["data"]["content"]["text"]), (1, &json!(SAID)));

    server.post(&format!("/v1/runs/{run}/messages"), &json!({ "text": "Use tabs." })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(
        messages(&model),
        [("assistant".to_owned(), SAID.to_owned()), ("user".to_owned(), "Use tabs.".to_owned())]
    );
    let calls = server.get(&format!("/v1/runs/{run}/model-requests")).await.ok();
    let how: Vec<&str> =
        calls["items"].as_array().unwrap().iter().map(|call| call["status"].as_str().unwrap()).collect();
    assert_eq!(how, ["interrupted", "replied"]);
    let late = server.post(&format!("/v1/runs/{run}/interrupt"), &json!({})).await;
    assert_eq!(late.refusal(), (409, "run_ended"));
    server.events(&run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_that_come_with_it_count_at_once_and_from_the_command_line() {
    let (model, server) = play(FREE, [held(), held(), done()]).await;
    let run = server.start_run("solo", "Write it.").await;
    streams(&model, 1).await;
    let path = format!("/v1/runs/{run}/interrupt");
    for is_replayed in [None, Some("true")] {
        let request = server.request(Method::POST, &path).header("idempotency-key", "it");
        let answer = request.json(&json!({ "text": "Use tabs." })).send().await.unwrap();
        let told =
            answer.headers().get("idempotency-replayed").map(|value| value.to_str().unwrap().to_owned());
        assert_eq!((answer.status().as_u16(), told.as_deref()), (200, is_replayed));
    }
    streams(&model, 2).await;
    assert!(server.events_of(&run, "interrupt_opened").await.is_empty(), "nobody is asked");
    let said = server.client_command().args(["interrupt", &run]).output().unwrap();
    assert!(said.status.success(), "{said:?}");
    assert!(String::from_utf8_lossy(&said.stdout).contains("Interrupted."), "{said:?}");
    server.choose(&server.wait_one(&run).await, "continue").await;
    server.wait_status(&run, &["completed"]).await;
    let told = messages(&model);
    assert_eq!(told.len(), 4, "{told:?}");
    assert_eq!(told[1].1, "Use tabs.");
    assert!(told[3].1.contains("Continue where the reply stopped"), "{told:?}");
    for (body, refusal) in [
        (json!({ "text": "x".repeat(70_000) }), (422, "invalid_request")),
        (json!({ "words": "no" }), (422, "invalid_request")),
    ] {
        let refused = server.post(&format!("/v1/runs/{run}/interrupt"), &body).await;
        assert_eq!(refused.refusal(), refusal);
    }
}

/// After an interruption, the remaining calls of the reply do not start, and the agent is given this fact.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_interrupted_with_the_calls_behind_it() {
    let reply = Scripted::calls([command(&long("621.25")), count("second")]);
    let (model, server) = play(FREE, [reply, done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    runs("621.25").await;
    let before = Instant::now();
    interrupt(&server, &run, &json!({})).await;
    is_gone("621.25").await;
    let turn = server.wait_one(&run).await;
    assert!(before.elapsed() < AT_ONCE * 2, "{:?}", before.elapsed());
    server.decide(&turn, &json!({ "option": "submit", "text": "Use the script." })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 0);
    let told = last_told(&model);
    for part in [
        "begun",
        "A person stopped this command. It ran in the workspace, and may have done a part of its work.",
        "Not run: a person interrupted the run before this call began.",
        "Use the script.",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let codes: Vec<Value> = server
        .events_of(&run, "tool_finished")
        .await
        .iter()
        .map(|event| event["data"]["code"].clone())
        .collect();
    assert_eq!(codes, ["interrupted", "interrupted"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trial_is_interrupted_and_nothing_of_it_happens() {
    let (model, server) = play(TRYING, [one(command(&long("622.25"))), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    runs("622.25").await;
    interrupt(&server, &run, &json!({})).await;
    is_gone("622.25").await;
    server.choose(&server.wait_one(&run).await, "continue").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(!server.workspace().join("made.txt").exists(), "it was only tried");
    let told = last_told(&model);
    assert!(
        told.contains("begun")
            && told.contains(
                "It ran only in a trial, so nothing has \
        changed."
            ),
        "{told}"
    );
}

/// An open interrupt about a call is superseded when the person writes a message instead of deciding.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_card_that_is_open_gives_way() {
    let (model, server) = play(FREE, [one(write("a.txt", "a")), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    let card = server.wait_one(&run).await;
    interrupt(&server, &run, &json!({})).await;
    let turn = server.wait_one(&run).await;
    assert_eq!(turn["kind"], "turn");
    assert_eq!(
        server.decide(&card, &json!({ "option": "approve" })).await.refusal(),
        (409, "already_resolved")
    );
    server.decide(&turn, &json!({ "option": "done", "text": "Enough." })).await.ok();
    let at = server.wait_status(&run, &["completed"]).await;
    assert_eq!(at["end_reason"], "partial");
    assert!(!server.workspace().join("a.txt").exists());
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_that_work_side_by_side_all_stop() {
    let parallel = "
name: two
agents:
  ada: {instructions: Work., tools: [run_command]}
  bob: {instructions: Work.}
phases:
  - {id: a, kind: one_shot, agent: ada, needs: []}
  - {id: b, kind: one_shot, agent: bob, needs: []}
gates: {rules: [{tools: [run_command], do: allow}]}
";
    let model = ScriptedModel::start().await;
    model.script("ada", [one(command(&long("623.25"))), done()]);
    model.script("bob", [held(), done()]);
    let server = TestServer::setup().workflow("two", parallel).model(&model).start().await;
    let run = server.start_run("two", "Do it.").await;
    runs("623.25").await;
    streams(&model, 2).await;
    interrupt(&server, &run, &json!({})).await;
    is_gone("623.25").await;
    server.wait_one(&run).await;
    server.post(&format!("/v1/runs/{run}/messages"), &json!({ "text": "Both of you." })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    for agent in ["ada", "bob"] {
        let told = model.requests_of(agent).pop().unwrap().texts().join("\n");
        assert!(told.contains("Both of you."), "{agent}: {told}");
    }
    assert!(model.requests_of("bob").pop().unwrap().texts().contains(&SAID.to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_node_interrupts_what_one_is_told() {
    let model = ScriptedModel::start().await;
    model.script("solo", [held(), done()]);
    let url = database().await;
    let mut nodes = Vec::new();
    for name in ["a", "b"] {
        let setup = TestServer::setup().workflow("solo", FREE).model(&model).database(&url, name);
        nodes.push(setup.start().await);
    }
    let cluster = Cluster { model, nodes };
    let [a, b] = &cluster.nodes[..] else { panic!() };
    let run = a.start_run("solo", "Write it.").await;
    streams(&cluster.model, 1).await;
    assert_eq!(cluster.driver(1, &run).await.as_deref(), Some("a"));
    let before = Instant::now();
    interrupt(b, &run, &json!({})).await;
    cluster.model.wait_for_hang_ups(1).await;
    assert!(before.elapsed() < AT_ONCE * 2, "{:?}", before.elapsed());
    let turn = b.wait_one(&run).await;
    b.decide(&turn, &json!({ "option": "submit", "text": "From afar." })).await.ok();
    b.wait_status(&run, &["completed"]).await;
    let told = messages(&cluster.model);
    assert_eq!(told.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(), [SAID, "From afar."]);
    cluster.assert_one_story(&run).await;
}

/// Performs one step of the scenario: reads the run and acts as the person. Returns true if the run has ended, or
/// `None` if the server did not respond.
async fn look(server: &TestServer, model: &ScriptedModel, run: &mut Option<String>) -> Option<bool> {
    let Some(id) = run else {
        let body = server.run_body("solo", "Write it.");
        let request = server.request(Method::POST, "/v1/runs").header("idempotency-key", "it").json(&body);
        *run = Some(server.try_send(request).await?.ok()["id"].as_str().unwrap().to_owned());
        return Some(false);
    };
    let at = server.try_send(server.request(Method::GET, &format!("/v1/runs/{id}"))).await?.ok();
    if at["status"] == "completed" {
        return Some(true);
    }
    let path = format!("/v1/runs/{id}/events?limit=200");
    let events = server.try_send(server.request(Method::GET, &path)).await?.ok();
    let was = |kind: &str| events["items"].as_array().unwrap().iter().any(|event| event["type"] == kind);
    let open = at["open_interrupts"].as_array().and_then(|open| open.first()).and_then(Value::as_str);
    if let Some(open) = open {
        let path = format!("/v1/interrupts/{open}");
        let asked = server.try_send(server.request(Method::GET, &path)).await?.ok();
        let decision = match asked["kind"].as_str() {
            Some("turn") => json!({ "option": "submit", "text": "Use tabs." }),
            // The server ended while the command ran, so a person checks whether the command has done its work.
            Some("unknown_outcome") if server.lines("count.txt") == 0 => json!({ "option": "rerun" }),
            Some("unknown_outcome") => json!({ "option": "happened", "text": "It is counted." }),
            _ => panic!("nobody expects this to be asked: {asked:#}"),
        };
        // The text of the stopped reply may be lost. In that case the model repeats the text and completes it.
        model.release();
        let path = format!("{path}/decisions");
        server.try_send(server.request(Method::POST, &path).json(&decision)).await?;
    } else if was("model_started") && !was("run_interrupted") {
        let path = format!("/v1/runs/{id}/interrupt");
        server.try_send(server.request(Method::POST, &path).json(&json!({}))).await?.ok();
    }
    Some(false)
}

/// Plays the scenario with an abort of the server after commit number `n`. Returns true if the abort happened.
async fn abort_after(n: usize) -> bool {
    let what = format!("abort after commit {n}");
    let model = ScriptedModel::start().await;
    model.script("solo", [held(), one(count("once")), done()]);
    let setup = TestServer::setup().workflow("solo", FREE).model(&model);
    let mut server = setup.program(aborting()).env(ABORT_AFTER, &n.to_string()).start().await;
    let mut run = None;
    let look = async |server: &TestServer| StoryProgress::from_answer(look(server, &model, &mut run).await);
    let aborted = play_until_over(&mut server, ABORT_AFTER, &what, look).await;
    let run = run.unwrap();
    assert_eq!(server.run(&run).await["status"], "completed", "{what}: {:#?}", server.story(&run).await);
    let doubts = server.events_of(&run, "tool_doubted").await.len();
    for (kind, times) in [
        ("run_interrupted", 1),
        ("interrupt_opened", 1 + doubts),
        ("decision_made", 1 + doubts),
        ("message_added", 1),
    ] {
        assert_eq!(server.events_of(&run, kind).await.len(), times, "{what}: {kind}");
    }
    assert!(server.lines("count.txt") <= 1, "{what}");
    let told = model.requests().pop().unwrap().texts();
    assert_eq!(told.iter().filter(|text| *text == "Use tabs.").count(), 1, "{what}: {told:?}");
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true, "{what}");
    aborted
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interruption_survives_an_abort_after_each_of_its_commits() {
    const ENDLESS: usize = 60;
    let commits = play_each(1..ENDLESS, async |n| abort_after(n).await).await;
    println!("aborted after each of {commits} commits");
    assert!((7..ENDLESS - 1).contains(&commits), "{commits} commits");
}

/// An interruption is not lost even if the server is killed right after its response. Only the output of the running
/// work is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interruption_holds_whatever_becomes_of_the_server() {
    let (model, mut server) =
        play(FREE, [Scripted::calls([command(&long("624.25")), count("b")]), done()]).await;
    let run = server.start_run("solo", "Do it.").await;
    runs("624.25").await;
    interrupt(&server, &run, &json!({})).await;
    server.kill();
    server.restart().await;
    let turn = server.wait_one(&run).await;
    is_gone("624.25").await;
    assert_eq!(server.events_of(&run, "tool_started").await.len(), 1, "it did not begin again");
    server.decide(&turn, &json!({ "option": "submit", "text": "Another way." })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    let told = last_told(&model);
    assert!(told.contains("A person stopped this command.") && told.contains("Another way."), "{told}");
    assert_eq!(server.lines("count.txt"), 0);
}

const COPILOT: &str = "
name: helper
agents:
  pair: {instructions: Do what the person asks for., tools: [read_file, write_file, run_command]}
phases:
  - {id: work, kind: copilot, agent: pair, conversational: true}
gates: {rules: [{tools: [read_file, write_file, run_command], do: allow}]}
";

/// Flow 3 of A26: a conversation, the message “implement it”, work, an interruption, and a changed task.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_becomes_work_is_interrupted_and_adapted() {
    let model = ScriptedModel::start().await;
    model.script(
        "pair",
        [
            Scripted::text("A greeting could be a file, or a program."),
            one(write("hello.py", "print('hello')\n")),
            held(),
            one(write("hello.txt", "hello\n")),
            Scripted::text("It is a file now."),
        ],
    );
    let server = TestServer::setup().workflow("helper", COPILOT).model(&model).start().await;
    let run = server.start_run("helper", "How could I greet people?").await;
    let turn = server.wait_one(&run).await;
    assert_eq!((&turn["kind"], &turn["position"]), (&json!("turn"), &json!("round")));
    let said = async |text: &str| {
        server.post(&format!("/v1/runs/{run}/messages"), &json!({ "text": text })).await.ok();
    };
    said("Implement it.").await;
    streams(&model, 3).await;
    assert!(server.workspace().join("hello.py").exists());
    interrupt(&server, &run, &json!({})).await;
    let turn = server.wait_one(&run).await;
    assert_eq!(turn["position"], "interruption");
    said("A text file is enough.").await;
    // The round continues with the message until its end, and then the person has a turn.
    let turn = eventually("the round ends", async || {
        let open = server.open(&run).await;
        open.into_iter().find(|each| each["position"] == "round")
    })
    .await;
    assert_eq!(fs::read_to_string(server.workspace().join("hello.txt")).unwrap(), "hello\n");
    let told = model.requests().pop().unwrap().texts().join("\n---\n");
    let order = [
        "How could I greet people?",
        "a file, or a program",
        "Implement it.",
        SAID,
        "A text file is enough.",
    ];
    let places: Vec<usize> =
        order.iter().map(|part| told.find(part).unwrap_or_else(|| panic!("{part}: {told}"))).collect();
    assert!(places.is_sorted(), "{told}");
    server.choose(&turn, "done").await;
    server.wait_status(&run, &["completed"]).await;
    let story = server.story(&run).await;
    let place = |kind: &str, nth: usize| {
        story
            .iter()
            .enumerate()
            .filter(|(_, each)| *each == kind)
            .nth(nth)
            .unwrap_or_else(|| panic!("{kind}: {story:?}"))
            .0
    };
    let journal = [
        place("step_started", 0),
        place("step_ended", 0),
        place("round_wanted", 0),
        place("step_started", 1),
        place("run_interrupted", 0),
        place("model_stopped", 0),
        place("message_added", 0),
        place("step_ended", 1),
        place("rounds_over", 0),
        place("run_completed", 0),
    ];
    assert!(journal.is_sorted(), "{story:?}");
    server.events(&run).await;
}
