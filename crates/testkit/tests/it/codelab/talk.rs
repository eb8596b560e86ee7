//! A conversation: questions, what was said before, what the person hears when something ends badly.

use holdshort_testkit::model::Scripted;
use reqwest::Method;
use serde_json::json;

use super::ide::{Ide, kinds, post, the};
use super::{WORKFLOW, conversation, on_plan, plans, served, served_with, subtask, user};

/// An agent asks, in either way: the next word is the answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_answered_by_the_next_word() {
    let (model, server) = served().await;
    let ask = json!({ "question": "Light or dark?", "choices": ["light", "dark"] });
    model.push("orchestrator", Scripted::call("ask_human", ask));
    model.push("orchestrator", Scripted::text("And which page do you mean?"));
    model.push("orchestrator", Scripted::text("Then it is dark."));
    let frames = post(&server, "s", &user("Style it.")).await;
    let question = the(&frames, "assistant_message");
    assert_eq!(
        (&question["content"], &question["is_final"], &question["metadata"]["choices"]),
        (&json!("Light or dark?"), &json!(true), &json!(["light", "dark"]))
    );
    assert_eq!(frames.last().unwrap(), &json!({ "type": "done", "status": "waiting" }));
    // Whoever connects hears it too.
    let mut ide = Ide::connect(&server, "s").await;
    assert_eq!(&ide.next().await, question);

    let frames = post(&server, "s", &user("dark")).await;
    assert_eq!(conversation(&model)[2]["content"], "dark", "it is the result of the call");
    assert_eq!(the(&frames, "assistant_message")["content"], "And which page do you mean?");
    let frames = post(&server, "s", &user("Settings.")).await;
    assert_eq!(the(&frames, "assistant_message")["content"], "Then it is dark.");
    assert_eq!(frames.last().unwrap()["status"], "completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_and_a_limit_are_said() {
    let (model, server) = served_with(&WORKFLOW.replace("rounds: 50", "rounds: 2")).await;
    model.push("orchestrator", Scripted::status(400));
    let frames = post(&server, "failing", &user("Hello.")).await;
    let error = the(&frames, "error");
    assert_eq!((&error["is_final"], &frames.last().unwrap()["status"]), (&json!(true), &json!("failed")));

    for path in ["a", "b"] {
        model.push("orchestrator", Scripted::call("handoff_to_ask", json!({ "message": path })));
        model.push("ask", Scripted::call("handoff_to_coder", json!({ "message": path })));
    }
    model.push("coder", Scripted::text("Enough."));
    let frames = post(&server, "limited", &user("Hello.")).await;
    let limit = the(&frames, "assistant_message");
    assert!(limit["content"].as_str().unwrap().contains("limit of 2 rounds"), "{limit}");
    assert_eq!(limit["metadata"]["question"], true);
    let frames = post(&server, "limited", &user("Go on.")).await;
    assert_eq!(the(&frames, "assistant_message")["content"], "Enough.");
    let told = model.requests().pop().unwrap().texts().join("\n");
    assert!(told.contains("Go on."), "{told}");
}

/// While a plan waits neither words nor a switch run anything; the session of another name knows nothing of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_are_by_themselves() {
    let (model, server) = served().await;
    model.push("orchestrator", plans(&[subtask("a", "coder", &[])]));
    let frames = post(&server, "one", &user("Build it.")).await;
    let plan = the(&frames, "plan_notification").clone();
    let switch = json!({ "type": "switch_agent", "agent_type": "ask", "content": "Explain it." });
    let frames = post(&server, "one", &switch).await;
    assert_eq!(kinds(&frames), ["session_info", "assistant_message", "done"]);
    assert_eq!(the(&frames, "assistant_message")["metadata"]["waiting"], true);

    let mut other = Ide::connect(&server, "two").await;
    assert_eq!(other.refused(&on_plan(&plan, "approve")).await["code"], "not_found");
    model.push("orchestrator", Scripted::text("Hello, two."));
    other.say(&user("Hello.")).await;
    let heard = other.until("done").await;
    assert_eq!(kinds(&heard), ["assistant_message", "done"], "nothing of the other session");
    assert_eq!(server.get("/edges/codelab/sessions/two/pending-plans").await.ok()["count"], 0);
    assert_eq!(server.get("/edges/codelab/sessions/one/pending-plans").await.ok()["count"], 1);

    // What was said before goes on with the session, and only with it.
    model.push("orchestrator", Scripted::text("I said hello."));
    post(&server, "two", &user("What did you say?")).await;
    let told = conversation(&model)[0]["content"].as_str().unwrap().to_owned();
    assert!(told.contains("Hello, two.") && !told.contains("Build it."), "{told}");
}

/// A gateway that goes away in the middle changes nothing, and neither does looking (LESSONS 4, 5).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn leaving_and_looking_change_nothing() {
    let (model, server) = served().await;
    model.script("orchestrator", [Scripted::hang()]);
    let body = json!({ "session_id": "s", "message": user("Think.") });
    let request = server.request(Method::POST, "/edges/codelab/agent/message/stream").json(&body);
    let mut answer = request.send().await.unwrap();
    assert!(answer.chunk().await.unwrap().is_some(), "it begins before the model has answered");
    model.wait_for_requests(1).await;
    drop(answer);

    let events = async || server.get("/v1/audit/verify").await.ok()["events"].clone();
    let before = events().await;
    drop(Ide::connect(&server, "s").await);
    drop(Ide::connect(&server, "unknown").await);
    for path in
        ["sessions/s/pending-approvals", "sessions/s/plans", "sessions/unknown/plans", "events/audit-log"]
    {
        server.get(&format!("/edges/codelab/{path}")).await;
    }
    assert_eq!(events().await, before);

    model.release();
    let run = server.get("/v1/runs").await.ok()["items"][0]["id"].as_str().unwrap().to_owned();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests().len(), 1, "nothing was asked twice");
}
