//! A long session over HTTP with the real binary. Requests to the model fit into the model's context window, and the
//! API shows the usage and cost of each request.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use reqwest::Method;
use serde_json::{Value, json};

use crate::play::{SOLO, ask, done, one, read};

const MODELS: &str = "
models:
  default:
    window_tokens: 6000
    price: {input_per_million: \"2.50\", output_per_million: \"10\", currency: USD}
";

/// Starts a server whose model sends these replies in order. The replies are queued, because a script selects replies
/// by the number of turns, which a summary reduces.
async fn start_with_replies(workflow: &str, steps: Vec<Scripted>) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    for step in steps {
        model.push("solo", step);
    }
    model.script("summariser", [Scripted::text("They hold digits.")]);
    let server = TestServer::setup().workflow("solo", workflow).model(&model).start().await;
    (model, server)
}

fn texts(request: &Value) -> String {
    let messages = request["messages"].as_array().unwrap();
    messages.iter().filter_map(|message| message["text"].as_str()).collect::<Vec<_>>().join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn old_turns_are_summed_up_and_what_a_person_said_is_still_sent() {
    let mut steps = vec![one(ask("Which colour?"))];
    steps.extend((0..6).map(|n| one(read(&format!("{n}.txt")))));
    steps.push(done());
    let (model, server) = start_with_replies(&format!("{SOLO}{MODELS}"), steps).await;
    for n in 0..6 {
        std::fs::write(server.workspace().join(format!("{n}.txt")), n.to_string().repeat(3_000)).unwrap();
    }
    let run = server.start_run("solo", "Read them.").await;
    let question = server.wait_one(&run).await;
    server.decide(&question, &json!({ "option": "answer", "text": "Green, and no other." })).await.ok();
    let ended = server.wait_status(&run, &["completed"]).await;

    let page = server.get(&format!("/v1/runs/{run}/model-requests?limit=200")).await.ok();
    let calls = page["items"].as_array().unwrap();
    assert_eq!(calls.len(), model.requests().len());
    let of = |agent: &str| calls.iter().filter(|call| call["agent"] == agent).count();
    assert!(of("summariser") >= 1 && of("solo") == 8, "{calls:#?}");
    for (call, sent) in calls.iter().zip(model.requests()) {
        assert_eq!((&call["status"], &call["usage"]["requests"]), (&json!("replied"), &json!(1)), "{call}");
        // The API shows each request exactly as it was sent, and no request exceeds the context window.
        let shown = server.get(&format!("/v1/runs/{run}/model-requests/{}", call["n"])).await.ok();
        assert_eq!((&shown["step"], texts(&shown)), (&call["step"], sent.texts().join("\n")));
        assert!(texts(&shown).len() < 3 * 6_000, "{}", texts(&shown).len());
    }
    let last = texts(&server.get(&format!("/v1/runs/{run}/model-requests/{}", calls.len())).await.ok());
    for kept in ["Read them.", "Green, and no other.", "They hold digits", &"5".repeat(3_000)] {
        assert!(last.contains(kept), "{kept}: {last}");
    }
    assert!(!last.contains(&"0".repeat(3_000)));

    // The next page begins after the last call of the previous page.
    let first = server.get(&format!("/v1/runs/{run}/model-requests?limit=3")).await.ok();
    let cursor = first["next_cursor"].as_str().unwrap();
    let rest = server.get(&format!("/v1/runs/{run}/model-requests?limit=200&cursor={cursor}")).await.ok();
    assert_eq!((&rest["items"][0], &rest["next_cursor"]), (&calls[3], &Value::Null));
    let none = server.get("/v1/runs/run_01k6f0000000000000000000aa/model-requests").await;
    assert_eq!(none.refusal().0, 404);
    let agents =
        server.send(server.agent_request(Method::GET, &format!("/v1/runs/{run}/model-requests"))).await;
    assert_eq!(agents.refusal().0, 403);

    // The usage of all calls adds up to the usage of the run and of the session.
    let sum = |field: &str| calls.iter().map(|call| call["usage"][field].as_u64().unwrap()).sum::<u64>();
    let used = json!({
        "requests": calls.len(), "input_tokens": sum("input_tokens"), "output_tokens": sum("output_tokens"),
    });
    assert_eq!(ended["usage"], used);
    let micro = sum("input_tokens") * 5 / 2 + sum("output_tokens") * 10;
    let paid: f64 = ended["cost"]["amount"].as_str().unwrap().parse().unwrap();
    assert!((paid * 1e6 - f64::from(u32::try_from(micro).unwrap())).abs() < 2.0, "{paid} and {micro}");
    let session = server.get(&format!("/v1/sessions/{}", ended["session"].as_str().unwrap())).await.ok();
    assert_eq!((&session["usage"], &session["costs"]), (&used, &json!([ended["cost"]])));
    assert_eq!(session["duration_ms"], ended["duration_ms"]);
    let audit = server.get("/v1/audit/verify").await.ok();
    assert_eq!(audit["intact"], json!(true), "{audit}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_provider_that_refuses_the_length_is_asked_again_with_less() {
    let mut steps: Vec<Scripted> = (0..3).map(|n| one(read(&format!("{n}.txt")))).collect();
    steps.extend([Scripted::status(413), done()]);
    let (model, server) = start_with_replies(SOLO, steps).await;
    for n in 0..3 {
        std::fs::write(server.workspace().join(format!("{n}.txt")), n.to_string().repeat(3_000)).unwrap();
    }
    let run = server.start_run("solo", "Read them.").await;
    server.wait_status(&run, &["completed"]).await;
    let last = model.requests().pop().unwrap().texts().join("\n");
    assert!(last.contains("They hold digits.") && !last.contains(&"0".repeat(3_000)), "{last}");
}
