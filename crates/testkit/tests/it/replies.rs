//! Faulty replies of models. The agent receives an error, the request is retried, and the server never guesses what the
//! model meant.

use holdshort_testkit::model::{RawCall, Scripted};
use serde_json::{Value, json};

use crate::play::{SOLO, count, done, last_told, one, play, read, solo};

fn raw(id: &str, tool: &str, arguments: &str) -> RawCall {
    RawCall { id: id.to_owned(), tool: tool.to_owned(), arguments: arguments.to_owned() }
}

#[tokio::test]
async fn calls_that_can_not_be_read_are_told_to_the_model() {
    let calls = Scripted::RawCalls(vec![
        raw("a", "run_command", r#"{"command": "echo"#),
        raw("b", "run_everything", "{}"),
        raw("c", "run_command", r#"{"command": "x", "sudo": true}"#),
        raw("d", "run_command", "[]"),
    ]);
    let (model, server) = solo([calls, done()]).await;
    let run = server.start_run("solo", "work").await;
    server.wait_status(&run, &["completed"]).await;
    let finished = server.events_of(&run, "tool_finished").await;
    let codes: Vec<&Value> = finished.iter().map(|event| &event["data"]["code"]).collect();
    assert_eq!(codes.len(), 4);
    assert_eq!(
        (codes[0], codes[1], codes[2]),
        (&json!("malformed_arguments"), &json!("unknown_tool"), &json!("invalid_arguments"))
    );
    assert!(last_told(&model).contains("`run_everything` is not available"));
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 0);
}

#[tokio::test]
async fn two_calls_with_one_id_are_two_calls() {
    let echo =
        |word: &str| raw("same", "run_command", &format!(r#"{{"command": "echo {word} >> count.txt"}}"#));
    let (model, server) = solo([Scripted::RawCalls(vec![echo("one"), echo("two")]), done()]).await;
    let run = server.start_run("solo", "work").await;
    for interrupt in server.wait_open(&run, 2).await {
        server.choose(&interrupt, "approve").await;
    }
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 2);
    let messages = model.requests()[1].body["messages"].as_array().unwrap().clone();
    let calls = messages[2]["tool_calls"].as_array().unwrap();
    assert_ne!(calls[0]["id"], calls[1]["id"]);
    for (call, result) in calls.iter().zip(&messages[3..]) {
        assert_eq!(call["id"], result["tool_call_id"]);
    }
    server.events(&run).await;
}

#[tokio::test]
async fn failures_that_pass_are_tried_again() {
    let failures: [(&str, Scripted); 4] = [
        ("rate_limited", Scripted::status(429)),
        ("unavailable", Scripted::status(500)),
        ("cut", Scripted::Cut("half of a reply".to_owned())),
        ("unusable", Scripted::Empty),
    ];
    let (model, server) = solo(Vec::new()).await;
    let mut runs = Vec::new();
    for (kind, failure) in failures {
        // The replies are queued and not scripted by position, because a retry has the same position as the failed
        // request.
        let model = holdshort_testkit::model::ScriptedModel::start().await;
        model.push("solo", failure);
        model.push("solo", one(count(kind)));
        model.push("solo", done());
        let server =
            holdshort_testkit::server::TestServer::setup().workflow("solo", SOLO).model(&model).start().await;
        let run = server.start_run("solo", "work").await;
        runs.push((kind, model, server, run));
    }
    drop((model, server));
    for (kind, model, server, run) in runs {
        let shown = server.wait_one(&run).await;
        server.choose(&shown, "approve").await;
        server.wait_status(&run, &["completed"]).await;
        let failed = server.events_of(&run, "model_failed").await;
        assert_eq!((failed.len(), &failed[0]["data"]["kind"]), (1, &json!(kind)), "{failed:#?}");
        assert!(failed[0]["data"]["retry_at"].is_string() || failed[0]["data"]["retry_at"].is_number());
        assert_eq!((model.requests().len(), server.lines("count.txt")), (3, 1));
    }
}

#[tokio::test]
async fn failures_that_stay_end_the_run_or_ask() {
    let (model, server) = solo([Scripted::status(401)]).await;
    let run = server.start_run("solo", "work").await;
    let failed = server.wait_status(&run, &["failed"]).await;
    assert_eq!((&failed["end_reason"], model.requests().len()), (&json!("model_failed"), 1));

    let asking = SOLO.replace("gates:\n", "gates:\n  on_error: ask\n");
    let (model, server) = play(&asking, Vec::new()).await;
    model.script("solo", Vec::new());
    drop(model);
    // The model's server is gone. The model is called three times, and then a person is asked.
    let run = server.start_run("solo", "work").await;
    let error = server.wait_one(&run).await;
    let tried = (&error["payload"]["attempts"], &error["payload"]["failures"]);
    assert_eq!((&error["kind"], tried), (&json!("error"), (&json!(1), &json!(3))), "{error:#}");
    server.decide(&error, &json!({"option": "hand_over", "text": "I did it myself."})).await.ok();
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(ended["result"]["text"], "I did it myself.");
    server.events(&run).await;
}

#[tokio::test]
async fn a_question_that_is_printed_is_asked() {
    let asks = || Scripted::text("Which file shall I read?");
    let (model, server) = solo([asks(), asks(), one(read("a")), done()]).await;
    let run = server.start_run("solo", "work").await;
    let question = server.wait_one(&run).await;
    assert_eq!(
        (&question["kind"], &question["title"]),
        (&json!("question"), &json!("Which file shall I read?"))
    );
    server.decide(&question, &json!({"option": "answer", "text": "the first one"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert!(last_told(&model).contains("the first one"));
    server.events(&run).await;
}

#[tokio::test]
async fn arguments_that_readers_understand_differently_harm_no_journal() {
    let deep = format!("{}{}", r#"{"command":["#.repeat(200), "]}".repeat(200));
    let odd = [
        r#"{"command": "echo 1", "timeout_s": 9007199254740993}"#.to_owned(),
        r#"{"command": "echo 1", "timeout_s": 1e400}"#.to_owned(),
        r#"{"command": "echo a", "command": "echo b"}"#.to_owned(),
        r#"{"command": "\ud800"}"#.to_owned(),
        r#"{"command": "a\u0000b"}"#.to_owned(),
        deep,
        "x".repeat(300_000),
    ];
    let calls = odd.iter().enumerate().map(|(n, text)| raw(&n.to_string(), "run_command", text));
    let (_model, mut server) = solo([Scripted::RawCalls(calls.collect()), one(read("a")), done()]).await;
    let run = server.start_run("solo", "work").await;
    loop {
        let at = server.wait_status(&run, &["completed", "waiting"]).await;
        if at["status"] == "completed" {
            break;
        }
        for interrupt in server.open(&run).await {
            server.choose(&interrupt, "reject").await;
        }
    }
    let before = server.events(&run).await;
    server.restart().await;
    assert_eq!(server.events(&run).await, before);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}
