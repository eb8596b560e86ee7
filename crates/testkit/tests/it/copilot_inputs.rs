//! Unsuitable inputs of a copilot: tasks, edits, chains, messages, and replies.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use crate::play::{count, done, one};

const WORKFLOW: &str = "
name: helper
agents:
  pair: {instructions: Work., tools: [run_command, write_file, ask_user, chain_phases]}
phases:
  - {id: work, kind: copilot, agent: pair, routing: balanced}
gates: {trial: off}
";

async fn server(pair: Vec<Scripted>) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    model.script("pair", pair);
    let server = TestServer::setup().workflow("helper", WORKFLOW).model(&model).start().await;
    (model, server)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_in_another_script_reaches_the_agent_as_it_was_said() {
    let (model, server) = server(vec![done().repeat()]).await;
    let tasks = [
        "名簿を長さ順に並べてください。",
        "رتّب قائمة الأسماء حسب الطول",
        "Отсортируй список",
        "a\u{0301}\u{202e}b \u{1f9d1}\u{200d}\u{1f4bb}",
    ];
    for (n, task) in tasks.into_iter().enumerate() {
        let run = server.start_run("helper", task).await;
        server.wait_status(&run, &["completed"]).await;
        let texts = model.requests()[n].texts();
        assert!(texts.iter().any(|text| text == task), "{task}: {texts:?}");
        let routed = server.events_of(&run, "task_routed").await;
        assert_eq!(routed[0]["data"]["route"], "direct", "of these words nothing is guessed: {task}");
        assert_eq!(server.run(&run).await["input"]["task"], task);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_of_100_kilobytes_is_told_whole() {
    let (model, server) = server(vec![done().repeat()]).await;
    let task = format!("explain this: {} the end", "word ".repeat(20_000));
    assert!(task.len() > 100_000);
    let run = server.start_run("helper", &task).await;
    server.wait_status(&run, &["completed"]).await;
    assert!(model.requests()[0].texts().contains(&task));
    // The limit applies to one long word in the same way as to many words.
    let run = server.start_run("helper", &"字".repeat(35_000)).await;
    server.wait_status(&run, &["completed"]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_task_is_routed_and_told_as_any_other() {
    for task in ["", "   \n"] {
        let (model, server) = server(vec![Scripted::text("There is nothing to do.")]).await;
        let run = server.start_run("helper", task).await;
        server.wait_status(&run, &["completed"]).await;
        assert_eq!(server.events_of(&run, "task_routed").await[0]["data"]["route"], "direct");
        assert_eq!(model.requests().len(), 1);
    }
}

/// An edit changes the arguments of a call, but never its tool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_makes_no_other_tool_of_a_command() {
    let (_model, server) = server(vec![one(count("made")), done()]).await;
    let run = server.start_run("helper", "Count the names of the list.").await;
    let asked = server.wait_one(&run).await;
    let edits = [
        json!({"tool": "write_file", "arguments": {"path": "a.txt", "content": "a"}}),
        json!({"tool": "write_file", "path": "a.txt", "content": "a"}),
        json!({"path": "a.txt", "content": "a"}),
        json!({"command": "echo a", "tool": "write_file"}),
        json!({"name": "write_file", "command": "echo a"}),
        json!(["echo a"]),
        json!("echo a"),
        json!({}),
        Value::Null,
    ];
    for edit in edits {
        let refused = server.decide(&asked, &json!({"option": "edit", "edit": edit})).await;
        assert_eq!(refused.status, 422, "{edit}: {refused:#?}");
        assert_eq!(server.wait_one(&run).await["id"], asked["id"], "it stays open");
    }
    server.choose(&asked, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(!server.workspace().join("a.txt").exists() && server.lines("count.txt") == 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_of_phases_that_are_not_there_begins_nothing() {
    let chains = [
        json!({"phases": [{"phase": "one_shot", "task": "a"}, {"phase": "cooking", "task": "b"}]}),
        json!({"phases": [{"phase": "chain_phases", "phases": [{"phase": "one_shot", "task": "a"}]}]}),
        json!({"phases": [{"phase": "one_shot", "task": "a", "phases": []}]}),
        json!({"phases": [{"phase": "one_shot", "task": "$previous"}]}),
        json!({"phases": []}),
        json!({"phases": "one_shot"}),
        json!({"phases": vec![json!({"phase": "one_shot", "task": "a"}); 11]}),
    ];
    for chain in chains {
        let (model, server) = server(vec![one(("chain_phases", chain.clone())), done()]).await;
        let run = server.start_run("helper", "Count the names of the list.").await;
        server.wait_status(&run, &["completed"]).await;
        let finished = server.events_of(&run, "tool_finished").await;
        assert_eq!(
            (finished.len(), &finished[0]["data"]["code"]),
            (1, &json!("invalid_arguments")),
            "{chain}"
        );
        assert!(server.events_of(&run, "phase_called").await.is_empty(), "{chain}");
        assert_eq!(model.requests().len(), 2, "the model hears it, and goes on");
    }
}

/// If a person sends a message between a decision and its effect, the agent receives the message once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_between_a_decision_and_its_continuation_is_heard_once() {
    let question = one(("ask_user", json!({"question": "Sorted how?"})));
    let (model, server) = server(vec![question, one(count("sorted")), done()]).await;
    let run = server.start_run("helper", "Sort the names of the list.").await;
    let asked = server.wait_one(&run).await;
    // Pause the run, so that the message arrives before the next request to the model.
    server.post(&format!("/v1/runs/{run}/pause"), &json!({})).await.ok();
    server.decide(&asked, &json!({"option": "answer", "text": "by length"})).await.ok();
    server.post(&format!("/v1/runs/{run}/messages"), &json!({"text": "longest first"})).await.ok();
    assert_eq!(model.requests().len(), 1);
    server.post(&format!("/v1/runs/{run}/resume"), &json!({})).await.ok();
    let card = server.wait_one(&run).await;
    let texts = model.requests()[1].texts();
    let last = &texts[texts.len() - 2..];
    assert!(last[0].contains("by length") && last[1] == "longest first", "{texts:?}");
    server.choose(&card, "reject").await;
    server.wait_status(&run, &["completed"]).await;
    let said = model.requests().pop().unwrap().texts();
    assert_eq!(said.iter().filter(|text| *text == "longest first").count(), 1, "{said:?}");
    assert_eq!(server.events_of(&run, "message_added").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_does_not_end_with_a_reply_that_was_cut() {
    let cut = Scripted::stopped("I sorted the fi", "length");
    let (model, server) = server(vec![cut, Scripted::text("I sorted the first three.")]).await;
    let run = server.start_run("helper", "Sort the names of the list.").await;
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!((&ended["result"]["text"], model.requests().len()), (&json!("I sorted the first three."), 2));
}

/// A question in plain text does not end a round. A person answers the question, and the same round continues.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_round_does_not_end_with_a_question_in_words() {
    let asks = || Scripted::text("I have looked at it. Which of the two lists do you mean?");
    let (model, server) = server(vec![asks(), asks(), done()]).await;
    let run = server.start_run("helper", "Sort the names of the list.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["step"]), (&json!("question"), &json!("work/round_1")));
    server.decide(&asked, &json!({"option": "answer", "text": "the longer one"})).await.ok();
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(ended["result"]["text"], "Done.");
    eventually("it was told", async || {
        model.requests().last()?.texts().join("\n").contains("the longer one").then_some(())
    })
    .await;
    assert_eq!(server.events_of(&run, "step_started").await.len(), 1);
}
