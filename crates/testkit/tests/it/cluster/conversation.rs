//! A conversation over several nodes: messages to any node, and the client that runs a call.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use super::{database, setup};
use crate::codelab::ide::Ide;
use crate::codelab::{result, user};

async fn nodes<const N: usize>() -> (ScriptedModel, [TestServer; N]) {
    let model = ScriptedModel::start().await;
    let url = database().await;
    let mut nodes = Vec::new();
    for name in ["a", "b", "c"].into_iter().take(N) {
        nodes.push(setup(&model).database(&url, name).start().await);
    }
    let Ok(nodes) = nodes.try_into() else { panic!("as many as asked for") };
    (model, nodes)
}

fn to_run(frames: &[Value]) -> Vec<Value> {
    let is_to_run = |frame: &&Value| frame["type"] == "tool_call" && frame["requires_approval"] == false;
    frames.iter().filter(is_to_run).cloned().collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_handed_out_by_one_node_and_its_result_taken_by_another() {
    let (model, [a, b]) = nodes().await;
    model.push("orchestrator", Scripted::call("read_file", json!({ "path": "x" })));
    model.push("orchestrator", Scripted::text("Read."));
    // One window is connected to each node, so each window is the newest one that its node knows.
    let (mut first, mut second) = (Ide::connect(&a, "s").await, Ide::connect(&b, "s").await);
    first.say(&user("Read it.")).await;
    let heard = [first.until("done").await, second.until("done").await];
    let calls = heard.each_ref().map(|frames| to_run(frames));
    assert_eq!(calls.concat().len(), 1, "one client has it: {heard:#?}");
    let call = calls.concat().remove(0);
    // A client that did not receive the call may send its result.
    let (has_it, other) = if calls[0].is_empty() { (second, first) } else { (first, second) };
    let mut other = other;
    other.say(&result(&call, "text")).await;
    assert_eq!(other.find("assistant_message").await["content"], "Read.");
    drop(has_it);
}

/// If the node of the client that has to run a call is killed, the next client is asked to run it, because the journal
/// records which client has the call.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_call_of_a_client_whose_node_is_killed_goes_to_who_comes() {
    let (model, [mut a, b]) = nodes().await;
    model.push("orchestrator", Scripted::call("read_file", json!({ "path": "x" })));
    model.push("orchestrator", Scripted::text("Read."));
    let mut first = Ide::connect(&a, "s").await;
    first.say(&user("Read it.")).await;
    let call = first.find("tool_call").await;
    // While the first client is connected, the second client does not receive the call.
    let mut second = Ide::connect(&b, "s").await;
    a.kill();
    let again = eventually("the node counts as gone", async || {
        let nodes = b.get("/v1/nodes").await.ok();
        let left = nodes["items"].as_array().unwrap().iter().filter(|node| node["alive"] == true).count();
        (left == 1).then_some(())
    });
    again.await;
    let mut third = Ide::connect(&b, "s").await;
    let told = third.find("tool_call").await;
    assert_eq!((&told["call_id"], &told["metadata"]), (&call["call_id"], &json!({ "redelivered": true })));
    third.say(&result(&told, "text")).await;
    let frames = second.until("assistant_message").await;
    assert_eq!(to_run(&frames), [json!(null); 0], "{frames:#?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_word_on_each_node_at_once_begins_one_run() {
    let (model, nodes) = nodes::<3>().await;
    model.push("solo", Scripted::text("I heard you.").repeat());
    let config = json!({ "workspace": nodes[0].workspace() });
    let open = json!({ "workflow": "solo", "config": config });
    let session = nodes[0].post("/v1/sessions", &open).await.ok();
    let path = format!("/v1/sessions/{}/messages", session["id"].as_str().unwrap());
    for round in 0..5 {
        let text = format!("word {round}");
        let body = json!({ "text": text });
        let [a, b, c] = &nodes;
        let said = tokio::join!(a.post(&path, &body), b.post(&path, &body), c.post(&path, &body));
        let mut runs: Vec<String> =
            [said.0, said.1, said.2].map(|said| said.ok()["run"].as_str().unwrap().to_owned()).to_vec();
        runs.sort();
        runs.dedup();
        for run in &runs {
            nodes[1].wait_status(run, &["completed"]).await;
        }
    }
    // Each message appears once, and the session never had two front runs at a time.
    let read = format!("/v1/sessions/{}/conversation?limit=200", session["id"].as_str().unwrap());
    let told: Vec<Value> = {
        let page = nodes[2].get(&read).await.ok();
        page["items"].as_array().unwrap().clone()
    };
    for round in 0..5 {
        let text = format!("word {round}");
        assert_eq!(told.iter().filter(|item| item["text"] == text.as_str()).count(), 3, "{told:#?}");
    }
    for node in &nodes {
        assert_eq!(node.get(&read).await.ok()["items"], json!(told), "one conversation");
    }
    let events = nodes[0].get("/v1/audit/verify").await.ok();
    assert_eq!(events["intact"], true);
}
