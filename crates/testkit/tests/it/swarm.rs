//! A copilot with several agents that hand off to each other within a round, over the real binary.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use crate::play::{count, one};
use crate::routed::WORKFLOW;

fn over(to: &'static str, message: &str) -> Scripted {
    let tool = if to == "writer" { "handoff_to_writer" } else { "handoff_to_pair" };
    one((tool, json!({"message": message})))
}

/// Returns the copilot's workflow without a router, so that the phase's own agent begins.
fn swarm() -> String {
    WORKFLOW.replace("routing: balanced, router: router, team: [writer], ", "")
}

async fn play(
    workflow: &str,
    pair: impl Into<Vec<Scripted>>,
    writer: impl Into<Vec<Scripted>>,
) -> (ScriptedModel, TestServer, String) {
    let model = ScriptedModel::start().await;
    model.script("pair", pair);
    model.script("writer", writer);
    let server = TestServer::setup().workflow("helper", workflow).model(&model).start().await;
    let run = server.start_run("helper", "Write the list.").await;
    (model, server, run)
}

/// Placeholder in an agent's script, for the position of a reply that a different agent gives. The number of replies in
/// a request, whichever agent gave these replies, selects the response.
fn unused() -> Scripted {
    Scripted::status(400)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_hands_over_to_another_within_a_round_and_back() {
    let pair = [
        over("writer", "Write one line."),
        unused(),
        unused(),
        Scripted::text("One line."),
        Scripted::text("Two lines."),
    ];
    let writer = [unused(), one(count("one")), over("pair", "It is written.")];
    let (model, server, run) = play(&swarm(), pair, writer).await;
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["kind"], &asked["payload"]["output"]), (&json!("turn"), &json!("One line.")));
    assert_eq!(server.lines("count.txt"), 1);
    let agents: Vec<String> = model.requests().into_iter().map(|request| request.agent).collect();
    assert_eq!(agents, ["pair", "writer", "writer", "pair"]);
    // Both agents share one conversation. The second agent sees the conversation so far, and each agent receives the
    // message of its handoff.
    let writer = &model.requests_of("writer")[0];
    let texts = writer.texts().join("\n");
    for part in ["Write.", "Write the list.", "Write one line."] {
        assert!(texts.contains(part), "{part}: {texts}");
    }
    assert!(writer.tools().contains(&"handoff_to_pair".to_owned()), "{:?}", writer.tools());
    assert!(!writer.tools().contains(&"read_file".to_owned()), "its own tools, not those of the other");
    assert!(model.requests_of("pair")[1].texts().join("\n").contains("It is written."));
    // The next round begins with the phase's own agent, which sees the whole conversation.
    server.decide(&asked, &json!({"option": "submit", "text": "Another?"})).await.ok();
    let asked = server.wait_one(&run).await;
    assert_eq!((&asked["payload"]["round"], &asked["payload"]["output"]), (&json!(2), &json!("Two lines.")));
    let sent = model.requests().pop().unwrap();
    assert_eq!(sent.agent, "pair");
    let texts = sent.body["messages"].to_string();
    for part in ["Write one line.", "echo one", "It is written.", "One line.", "Another?"] {
        assert!(texts.contains(part), "{part}: {texts}");
    }
    server.choose(&asked, "done").await;
    server.wait_status(&run, &["completed"]).await;
    let handed: Vec<Value> =
        server.events_of(&run, "handed_over").await.iter().map(|event| event["data"]["to"].clone()).collect();
    assert_eq!(handed, ["writer", "pair"]);
    assert_eq!(server.events_of(&run, "step_started").await.len(), 2, "a round is one step, whoever works");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hand_over_to_nobody_or_to_itself_is_an_error_that_the_model_sees() {
    for to in ["handoff_to_nobody", "handoff_to_pair", "handoff_to_", "handoff_to_router"] {
        let pair = [one((to, json!({"message": "yours"}))), Scripted::text("By myself, then.")];
        let (model, server, run) = play(&swarm(), pair, []).await;
        let asked = server.wait_one(&run).await;
        assert_eq!(asked["payload"]["output"], "By myself, then.");
        let finished = server.events_of(&run, "tool_finished").await;
        assert_eq!((finished.len(), &finished[0]["data"]["code"]), (1, &json!("unknown_tool")), "{to}");
        let told = model.requests().pop().unwrap().texts().join("\n");
        assert!(told.contains(&format!("the tool `{to}` is not available")), "{told}");
        assert!(told.contains("handoff_to_writer"), "it is told whom there is: {told}");
        assert!(server.events_of(&run, "handed_over").await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_hand_to_and_fro_end_at_a_limit() {
    let limited = swarm().replace("agent: pair,", "agent: pair, limits: {rounds: 6},");
    let (model, server, run) =
        play(&limited, [over("writer", "you").repeat()], [over("pair", "no, you").repeat()]).await;
    let asked = server.wait_one(&run).await;
    assert_eq!(asked["kind"], "continuation", "{asked:#}");
    assert_eq!((model.requests().len(), server.events_of(&run, "handed_over").await.len()), (6, 6));
    server.decide(&asked, &json!({"option": "finish"})).await.ok();
    let turn = server.wait_one(&run).await;
    assert_eq!(turn["kind"], "turn");
    server.choose(&turn, "done").await;
    server.wait_status(&run, &["completed"]).await;
}
