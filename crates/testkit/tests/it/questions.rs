//! Questions with invalid input and faults, over the real binary (contract C, E28).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use crate::play::{SOLO, ask, done, one, play, read, solo};

/// An answer of 1 MB is refused, and so is a blank answer. The question stays open.
#[tokio::test]
async fn an_answer_that_is_too_long_or_empty_is_refused() {
    let (model, server) = solo([one(ask("Which?")), done()]).await;
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    for (text, status, code) in [
        ("x".repeat(1 << 20), 413, "body_too_large"),
        ("x".repeat(64 * 1024 + 1), 422, "invalid_request"),
        (String::new(), 422, "invalid_request"),
        (" \n\t".to_owned(), 422, "invalid_request"),
    ] {
        let refused = server.decide(&asked, &json!({ "option": "answer", "text": text })).await;
        assert_eq!(refused.refusal(), (status, code), "{} bytes", text.len());
        if status == 422 {
            assert_eq!(refused.body["errors"][0]["pointer"], "/text", "{}", refused.body);
        }
    }
    assert_eq!((server.wait_one(&run).await["status"].as_str(), model.requests().len()), (Some("open"), 1));
    let longest = "é".repeat(32 * 1024);
    server.decide(&asked, &json!({ "option": "answer", "text": longest })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests()[1].texts().last().map(String::len), Some(64 * 1024));
}

/// The agent receives an answer unchanged, in any script. A terminal escapes the answer's control characters.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_another_script_arrives_as_it_is() {
    const ANSWER: &str =
        "Ja, zwei Wochen – 两周，右膝。 مُتعب \u{1f3c3}\u{200d}\u{2640} \u{1b}[2J\u{202e}drawkcab";
    let (model, server) = solo([one(ask("Which?")), done()]).await;
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    server.decide(&asked, &json!({ "option": "answer", "text": ANSWER })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests()[1].texts().last().map(String::as_str), Some(ANSWER));
    let result = server.get(&format!("/v1/runs/{run}/result")).await.ok();
    assert_eq!(result["result"]["questions"][0]["answer"], ANSWER);
    for verb in [&["show", asked["id"].as_str().unwrap()][..], &["result", &run], &["events", &run]] {
        let output = server.client_command().args(verb).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap();
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{verb:?}: {shown}");
    }
}

/// If two answers arrive at the same instant, one of them is refused, and the agent receives the other.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_answers_at_the_same_instant_one_counts() {
    let (model, server) = solo([one(ask("Which?")), done()]).await;
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    let answer = |text: &str| {
        let body = json!({ "option": "answer", "text": text });
        let (server, asked) = (&server, &asked);
        async move { server.decide(asked, &body).await }
    };
    let (left, right) = tokio::join!(answer("The left one."), answer("The right one."));
    let (won, lost) = if left.status == 200 { ("The left one.", right) } else { ("The right one.", left) };
    assert_eq!(lost.refusal(), (409, "already_resolved"));
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(model.requests()[1].texts().last().map(String::as_str), Some(won));
    assert_eq!(server.events_of(&run, "decision_made").await.len(), 1);
}

#[tokio::test]
async fn an_answer_to_a_question_of_a_cancelled_run_is_told_so() {
    let (model, server) = solo([one(ask("Which?")), done()]).await;
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.ok();
    let late = server.decide(&asked, &json!({ "option": "answer", "text": "This." })).await;
    assert_eq!(late.refusal(), (409, "already_resolved"));
    let now = server.interrupt(asked["id"].as_str().unwrap()).await;
    assert_eq!((&now["status"], &now["resolution"]["outcome"]), (&json!("resolved"), &json!("cancelled")));
    assert_eq!((server.run(&run).await["status"].as_str(), model.requests().len()), (Some("cancelled"), 1));
}

fn typed(schema: &Value) -> Scripted {
    one(("ask_human", json!({ "question": "Which?", "response_schema": schema })))
}

/// A schema that refers only to itself, or that matches no value, is returned to the agent. A recursive schema that
/// matches finite values is accepted.
#[tokio::test]
async fn a_schema_in_circles() {
    let around = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } } });
    let tree = json!({
        "type": "object", "required": ["name"], "additionalProperties": false,
        "properties": { "name": { "type": "string" }, "parts": { "type": "array", "items": { "$ref": "#" } } },
    });
    let endless =
        json!({ "type": "object", "required": ["next"], "properties": { "next": { "$ref": "#" } } });
    let script = [typed(&json!({ "$ref": "#" })), typed(&around), typed(&endless), typed(&tree), done()];
    let (model, server) = solo(script).await;
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(model.requests().len(), 4);
    for request in &model.requests()[1..] {
        let texts = request.texts();
        assert!(texts.last().unwrap().contains("/response_schema"), "{texts:?}");
    }
    let answer = |edit: Value| json!({ "option": "answer", "edit": edit });
    let wrong = answer(json!({ "name": "a", "parts": [{ "name": "b", "parts": [{ "name": 7 }] }] }));
    let refused = server.decide(&asked, &wrong).await;
    assert_eq!(refused.refusal(), (422, "invalid_request"));
    assert_eq!(refused.body["errors"][0]["pointer"], "/edit/parts/0/parts/0/name");
    server.decide(&asked, &answer(json!({ "name": "a", "parts": [{ "name": "b" }] }))).await.ok();
    server.wait_status(&run, &["completed"]).await;
}

#[tokio::test]
async fn a_schema_of_200_fields() {
    let names: Vec<String> = (0..200).map(|n| format!("field_{n}")).collect();
    let properties: serde_json::Map<String, Value> = names
        .iter()
        .map(|name| (name.clone(), json!({ "type": "integer", "description": "Of the day." })))
        .collect();
    let schema = json!({ "type": "object", "properties": properties, "required": names, "additionalProperties": false });
    let (model, server) = solo([typed(&schema), done()]).await;
    let run = server.start_run("solo", "ask").await;
    let asked = server.wait_one(&run).await;
    let refused = server.decide(&asked, &json!({ "option": "answer", "edit": {} })).await;
    assert_eq!(refused.refusal(), (422, "invalid_request"));
    let problems = refused.body["errors"].as_array().unwrap().len();
    assert!((1..=200).contains(&problems), "{problems}");
    let all: serde_json::Map<String, Value> = names.iter().map(|name| (name.clone(), json!(1))).collect();
    server.decide(&asked, &json!({ "option": "answer", "edit": all })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    let heard: Value = serde_json::from_str(model.requests()[1].texts().last().unwrap()).unwrap();
    assert_eq!(heard, Value::Object(all));
}

const FOUR: &str = "
name: four
agents:
  a: {instructions: Ask., tools: [ask_human]}
  b: {instructions: Ask., tools: [ask_human]}
  c: {instructions: Ask., tools: [ask_human]}
  d: {instructions: Work., tools: [ask_human]}
phases:
  - {id: a, kind: one_shot, agent: a, needs: []}
  - {id: b, kind: one_shot, agent: b, needs: []}
  - {id: c, kind: one_shot, agent: c, needs: []}
  - {id: d, kind: one_shot, agent: d, needs: []}
";

/// After a restart the open questions are unchanged, and only the agent that was working calls its model again.
#[tokio::test]
async fn a_restart_while_three_agents_wait_and_one_works() {
    for deliver in ["at_once", "per_stage"] {
        let workflow = format!("{FOUR}asking: {{deliver: {deliver}}}\n");
        let model = ScriptedModel::start().await;
        let mut server = TestServer::setup().workflow("four", &workflow).model(&model).start().await;
        for agent in ["a", "b", "c"] {
            model.script(agent, [one(ask(&format!("{agent}?"))), done()]);
        }
        model.script("d", [Scripted::Hang(Box::new(Scripted::text("Done.")))]);
        let run = server.start_run("four", "ask").await;
        model.wait_for_requests(4).await;
        let is_asked = async |server: &TestServer, n: usize| {
            let asked = async || (server.events_of(&run, "model_replied").await.len() == n).then_some(());
            eventually("three have asked", asked).await;
        };
        is_asked(&server, 3).await;
        let waiting = if deliver == "at_once" { 3 } else { 0 };
        let before: Vec<Value> = server.open(&run).await;
        assert_eq!((before.len(), server.run(&run).await["status"].as_str()), (waiting, Some("running")));

        server.restart().await;
        model.wait_for_requests(5).await;
        assert_eq!(server.open(&run).await, before, "{deliver}");
        model.release();
        let open = server.wait_open(&run, 3).await;
        for asked in open.iter().rev() {
            server.decide(asked, &json!({ "option": "answer", "text": "This one." })).await.ok();
        }
        server.wait_status(&run, &["completed"]).await;
        let calls = ["a", "b", "c", "d"].map(|agent| model.requests_of(agent).len());
        assert_eq!(calls, [2, 2, 2, 2], "{deliver}");
        assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 3);
    }
}

/// The result of a cancelled run also lists questions that were never shown.
#[tokio::test]
async fn a_question_that_is_kept_back_outlives_its_cancelled_run() {
    let workflow = format!("{FOUR}asking: {{deliver: per_stage}}\n");
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().workflow("four", &workflow).model(&model).start().await;
    model.script("a", [one(ask("Were you ill?"))]);
    model.script("b", [done()]);
    model.script("c", [done()]);
    model.script("d", [Scripted::Hang(Box::new(done()))]);
    let run = server.start_run("four", "ask").await;
    let all = async || (server.events_of(&run, "model_replied").await.len() == 3).then_some(());
    eventually("three have replied", all).await;
    assert_eq!(server.run(&run).await["open_interrupts"], json!([]));
    server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.ok();
    server.wait_status(&run, &["cancelled"]).await;
    model.release();
    let result = server.get(&format!("/v1/runs/{run}/result")).await.ok();
    let asked = json!([{ "interrupt": null, "agent": "a", "question": "Were you ill?", "outcome": "cancelled",
                         "asked": false }]);
    assert_eq!(result["result"]["questions"], asked, "{result}");
}

/// Lists contain the questions of one reply in the order in which the agent asked them.
#[tokio::test]
async fn the_questions_of_one_reply_are_listed_in_their_order() {
    let texts: Vec<String> = (1..=12).map(|n| format!("Question {n}?")).collect();
    let calls: Vec<_> = texts.iter().map(|text| ask(text)).collect();
    let (_model, server) = solo([Scripted::calls(calls), done()]).await;
    let run = server.start_run("solo", "ask").await;
    server.wait_open(&run, 12).await;
    let list = server.get(&format!("/v1/interrupts?status=open&run={run}")).await.ok();
    let items = list["items"].as_array().unwrap();
    let listed: Vec<&str> = items.iter().map(|each| each["payload"]["question"].as_str().unwrap()).collect();
    assert_eq!(listed, texts);
    let ids: Vec<&Value> = items.iter().map(|each| &each["id"]).collect();
    let of_run = server.run(&run).await;
    assert_eq!(of_run["open_interrupts"].as_array().unwrap().iter().collect::<Vec<_>>(), ids);
}

const STRICT: &str = "
name: strict
agents:
  a: {instructions: Ask., tools: [ask_human]}
  b: {instructions: Work., tools: [read_file]}
phases:
  - {id: a, kind: one_shot, agent: a, needs: []}
  - {id: b, kind: one_shot, agent: b, needs: []}
asking: {pause_siblings: true}
gates:
  rules: [{tools: [read_file], do: allow}]
";

/// In strict mode, agents that did not ask start their calls only after the question is answered (contract E28).
#[tokio::test]
async fn an_open_question_holds_the_others_where_the_workflow_says_so() {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().workflow("strict", STRICT).model(&model).start().await;
    model.script("a", [one(ask("Which?")), done()]);
    model.script("b", [Scripted::Hang(Box::new(one(read("x")))), done()]);
    std::fs::write(server.workspace().join("x"), "alpha").unwrap();
    let run = server.start_run("strict", "work").await;
    model.wait_for_requests(2).await;
    eventually("the question", async || server.open(&run).await.into_iter().next()).await;
    model.release();
    let asked = server.wait_one(&run).await;
    let work = server.get(&format!("/v1/runs/{run}/work")).await.ok();
    let held = work["items"].as_array().unwrap().iter().find(|each| each["agent"] == "b").unwrap();
    assert_eq!((&held["state"], &held["waits_for"]), (&json!("held"), &json!(["a"])), "{work}");
    assert_eq!(server.events_of(&run, "tool_finished").await.len(), 0, "nothing is read meanwhile");
    assert_eq!(model.requests_of("b").len(), 1);

    server.decide(&asked, &json!({ "option": "answer", "text": "This one." })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(["a", "b"].map(|agent| model.requests_of(agent).len()), [2, 2]);
    assert_eq!(model.requests_of("b")[1].texts().last().map(String::as_str), Some("alpha"));
}

/// If a question expires, or if a person skips it, the agent learns this and records an assumption. The result lists
/// the question and the assumption.
#[tokio::test]
async fn a_question_without_an_answer_becomes_an_assumption() {
    for (timeout, skips, told, outcome) in [
        ("500ms", false, "No response in time.", "expired"),
        ("1h", true, "The person skipped the question.", "answered"),
    ] {
        let workflow = format!("{SOLO}asking: {{timeout: {timeout}}}\n");
        let records = ("record_assumption", json!({ "assumption": "It was a week of rest." }));
        let (model, server) = play(&workflow, [one(ask("Were you ill?")), one(records), done()]).await;
        let run = server.start_run("solo", "ask").await;
        if skips {
            let asked = server.wait_one(&run).await;
            server.choose(&asked, "skip").await;
        }
        let ended = server.wait_status(&run, &["completed"]).await;
        let heard = model.requests()[1].texts().last().cloned().unwrap();
        assert!(heard.starts_with(told), "{timeout}: {heard}");
        assert_eq!(ended["result"]["questions"][0]["outcome"], outcome, "{timeout}");
        let assumed = &ended["result"]["assumptions"];
        assert_eq!(assumed.as_array().map(Vec::len), Some(1), "{timeout}: {assumed}");
        assert_eq!(assumed[0]["assumption"], "It was a week of rest.", "{timeout}");
    }
}

const NAMES: &str = "
name: solo
agents:
  solo: {instructions: Ask., tools: [ask_human, ask_user, communicate_with_human]}
phases:
  - {id: work, kind: one_shot, agent: solo}
";

/// The tool has three names, and all of them ask the same kind of question. By default the question never expires
/// (contract E24, C5, C8).
#[tokio::test]
async fn each_name_of_the_tool_asks_the_same_question() {
    let common = json!({ "question": "Which?", "kind": "observation", "context": "Two fit." });
    let theirs = json!({ "message": "Which?", "message_type": "observation", "context": "Two fit." });
    let calls = [("ask_human", common.clone()), ("ask_user", common), ("communicate_with_human", theirs)];
    let (model, server) = play(NAMES, [Scripted::calls(calls), done()]).await;
    let run = server.start_run("solo", "ask").await;
    for (asked, answer) in server.wait_open(&run, 3).await.iter().zip(["one", "two", "three"]) {
        let shown = [&asked["kind"], &asked["payload"]["question"], &asked["payload"]["kind"]];
        assert_eq!(shown, ["question", "Which?", "observation"], "{asked}");
        assert_eq!((&asked["payload"]["context"], &asked["expires_at"]), (&json!("Two fit."), &Value::Null));
        server.decide(asked, &json!({ "option": "answer", "text": answer })).await.ok();
    }
    server.wait_status(&run, &["completed"]).await;
    let heard = model.requests()[1].texts();
    assert_eq!(heard[heard.len() - 3..], ["one", "two", "three"]);
}
