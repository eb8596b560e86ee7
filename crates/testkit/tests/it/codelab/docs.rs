//! Tests of `docs/reference/edges/codelab.md`: the server accepts each message that the page shows, and sends frames
//! like those that the page shows.

use holdshort_testkit::model::Scripted;
use serde_json::{Value, json};

use super::ide::{Ide, find_only_frame, post, post_refused};
use super::{on_call, on_plan, plans, result, served, subtask, user};

fn examples(part: &str) -> Vec<Value> {
    crate::docs::json_of("docs/reference/edges/codelab.md", part)
}

/// Returns true if a frame of the documentation and a real frame have the same fields with the same types.
fn alike(shown: &Value, real: &Value) -> bool {
    match (shown, real) {
        (Value::Object(shown), Value::Object(real)) => {
            shown.len() == real.len()
                && shown.iter().all(|(key, shown)| {
                    real.get(key).is_some_and(|real| key == "arguments" || alike(shown, real))
                })
        }
        (Value::Array(shown), Value::Array(real)) => match (shown.first(), real.first()) {
            (Some(shown), Some(real)) => alike(shown, real),
            (None, _) | (_, None) => true,
        },
        (Value::String(_), Value::String(_)) | (Value::Number(_), Value::Number(_)) => true,
        (shown, real) => shown == real,
    }
}

/// The server accepts each message of the page about the `CodeLab` edge. A refusal is expected only because the plan,
/// call or run does not exist.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_sends_is_understood() {
    let (model, server) = served().await;
    model.push("orchestrator", Scripted::text("Hello.").repeat());
    model.push("debug", Scripted::text("Hello.").repeat());
    let shown = examples("## Messages from a client");
    assert_eq!(shown.len(), 13);
    for message in shown {
        let kind = message["type"].as_str().unwrap().to_owned();
        if ["user_message", "switch_agent"].contains(&kind.as_str()) && message.get("request_id").is_none() {
            assert_eq!(
                post(&server, &kind, &message).await.last().unwrap()["status"],
                "completed",
                "{message}"
            );
            continue;
        }
        let body = json!({ "session_id": "user_message", "message": message });
        let refused = post_refused(&server, &body).await;
        assert_eq!(refused["code"], "not_found", "{message}: {refused}");
    }
}

/// The tests receive each type of frame of the `CodeLab` edge, and every example of its page has the fields of a real
/// frame.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_client_hears_is_what_is_shown() {
    let (model, server) = served().await;
    let mut heard = Vec::new();
    model.push("orchestrator", Scripted::call("handoff_to_ask", json!({ "reason": "it is a question" })));
    model.push("ask", Scripted::text("There."));
    heard.extend(post(&server, "s", &user("Where is it?")).await);
    let mut planned = subtask("s1", "coder", &[]);
    planned["estimated_time"] = json!("5 min");
    model.push("orchestrator", plans(&[planned]));
    model.push("coder", Scripted::call("execute_command", json!({ "command": "make" })));
    model.push("coder", Scripted::text("Written."));
    heard.extend(post(&server, "s", &user("Write it.")).await);
    let mut ide = Ide::open(&server, "s").await;
    for _ in 0..3 {
        heard.push(ide.next().await);
    }
    let maybe = json!({ "type": "plan_decision", "plan_id": "plan_5f3a9c01", "decision": "maybe" });
    heard.push(ide.refused(&maybe).await);
    let plan = find_only_frame(&heard[heard.len() - 3..], "plan_notification").clone();
    ide.say(&on_plan(&plan, "approve")).await;
    heard.extend(ide.until("done").await);
    let call = find_only_frame(&heard, "tool_call").clone();
    ide.say(&on_call(&call, "approve")).await;
    heard.extend(ide.until("done").await);
    ide.say(&result(&call, "exit code 0")).await;
    heard.extend(ide.until("done").await);

    let shown = examples("## Messages to a client");
    for example in &shown {
        let found = heard.iter().any(|real| real["type"] == example["type"] && alike(example, real));
        let same: Vec<&Value> = heard.iter().filter(|real| real["type"] == example["type"]).collect();
        assert!(found, "nothing like {example:#} came, but {same:#?}");
    }
    // Every type of frame that the client received is documented.
    for real in &heard {
        assert!(shown.iter().any(|example| example["type"] == real["type"]), "{real} is not documented");
    }
}
