//! The conversation of a session over REST. A message answers a question, reaches a run or starts a run, exactly once,
//! and can be read later.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Api, Served, created, ok, read, refusal, text};

/// Rehearsal script with which each run asks a question and then ends.
const SCRIPT: &str = "    - calls:
        - {tool: ask_human, arguments: {question: Which page?}}
    - {text: It is done.}
";

async fn opened(served: &Served) -> Value {
    let config = json!({"workspace": served.workspace(), "model": "rehearsal"});
    let body = json!({"name": "Pages", "workflow": "own", "config": config});
    created(served.operator().post("/v1/sessions", &body).await)
}

fn path(session: &Value, part: &str) -> String {
    format!("/v1/sessions/{}/{part}", text(session, "id"))
}

async fn say(api: &Api, session: &Value, body: &Value) -> Value {
    ok(api.post(&path(session, "messages"), body).await)
}

/// Returns the messages of a conversation as `[(by, text)]`.
async fn conversation(api: &Api, session: &Value) -> Vec<(String, String)> {
    let mut said = Vec::new();
    let mut cursor = String::new();
    loop {
        // The pages are small, so that the cursor is tested too.
        let page = ok(api.get(&format!("{}?limit=2{cursor}", path(session, "conversation"))).await);
        for item in page["items"].as_array().unwrap() {
            said.push((text(item, "by").to_owned(), text(item, "text").to_owned()));
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return said,
        }
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(by, text)| ((*by).to_owned(), (*text).to_owned())).collect()
}

#[tokio::test]
async fn what_is_said_begins_a_run_answers_it_and_begins_the_next() {
    let served = Served::playing(SCRIPT).await;
    let api = served.operator();
    let session = opened(&served).await;
    let begun = say(&api, &session, &json!({"text": "Make it dark."})).await;
    assert_eq!((&begun["session"], &begun["interrupt"]), (&session["id"], &Value::Null));
    let run = text(&begun, "run").to_owned();
    let question = served.next_of(&run).await;

    // A message that names no question answers no question, and goes to the run.
    let told = say(&api, &session, &json!({"text": "And quickly."})).await;
    assert_eq!(told, json!({"session": session["id"], "run": run}));
    assert_eq!(served.next_of(&run).await["id"], question["id"]);
    let answered = say(&api, &session, &json!({"text": "The first.", "to": question["id"]})).await;
    assert_eq!(answered["interrupt"], question["id"]);
    assert_eq!(served.ended(&run).await["status"], "completed");

    let next = say(&api, &session, &json!({"text": "And the next one."})).await;
    assert_ne!(next["run"], begun["run"]);
    let read = ok(api.get(&format!("/v1/sessions/{}", text(&session, "id"))).await);
    assert_eq!((&read["front_run"], &read["runs"]), (&next["run"], &json!([next["run"], begun["run"]])));
    // The model of the next run gets the previous messages, but the input of the next run does not contain them.
    let second = text(&next, "run").to_owned();
    let asked = served.next_of(&second).await;
    let request = ok(api.get(&format!("/v1/runs/{second}/model-requests/1")).await);
    let request = request.to_string();
    for words in ["Make it dark.", "And quickly.", "The first.", "It is done.", "And the next one."] {
        assert!(request.contains(words), "{words}: {request}");
    }
    let started = ok(api.get(&format!("/v1/runs/{second}")).await);
    assert_eq!(started["input"], json!({"task": "And the next one."}));

    // After a restart, the model of the continued run still gets them.
    let served = served.restart().await;
    let api = served.operator();
    say(&api, &session, &json!({"text": "The second.", "to": asked["id"]})).await;
    served.ended(&second).await;
    let request = ok(api.get(&format!("/v1/runs/{second}/model-requests/2")).await).to_string();
    assert!(request.contains("Make it dark.") && request.contains("The second."), "{request}");
    assert_eq!(
        conversation(&api, &session).await,
        pairs(&[
            ("operator", "Make it dark."),
            ("ada", "Which page?"),
            ("operator", "And quickly."),
            ("operator", "The first."),
            ("ada", "It is done."),
            ("operator", "And the next one."),
            ("ada", "Which page?"),
            ("operator", "The second."),
            ("ada", "It is done."),
        ])
    );
}

#[tokio::test]
async fn the_same_key_says_it_once() {
    let served = Served::playing(SCRIPT).await;
    let api = served.operator();
    let session = opened(&served).await;
    let keyed = async |path: String, key: &str, body: Value| {
        let request = api.request(Method::POST, &path).header("idempotency-key", key);
        let response = request.json(&body).send().await.unwrap();
        let replayed = response.headers().contains_key("idempotency-replayed");
        (replayed, read(response).await)
    };
    let messages = path(&session, "messages");
    let (first, begun) = keyed(messages.clone(), "k 1", json!({"text": "Make it dark."})).await;
    assert!(!first);
    assert_eq!(keyed(messages.clone(), "k 1", json!({"text": "Make it dark."})).await, (true, begun.clone()));
    let (_, other) = keyed(messages.clone(), "k 1", json!({"text": "Make it light."})).await;
    assert_eq!(refusal(&other), (422, "idempotency_key_reused", vec![]));
    let run = text(&begun.1, "run").to_owned();
    let question = served.next_of(&run).await;

    // A message to the session, a message to the run, and an answer.
    for path in [messages.clone(), format!("/v1/runs/{run}/messages")] {
        for replayed in [false, true] {
            let (was, said) = keyed(path.clone(), "k 2", json!({"text": "Quickly."})).await;
            assert_eq!((was, said.0), (replayed, 200), "{path}");
        }
    }
    let answer = json!({"text": "The first.", "to": question["id"]});
    let (_, first) = keyed(messages.clone(), "k 3", answer.clone()).await;
    served.ended(&run).await;
    let (replayed, again) = keyed(messages.clone(), "k 3", answer).await;
    assert_eq!((replayed, &again), (true, &first));
    let said = conversation(&api, &session).await;
    assert_eq!(said.iter().filter(|(_, text)| text == "Quickly.").count(), 2, "{said:?}");
    assert_eq!(ok(api.get("/v1/runs").await)["items"].as_array().unwrap().len(), 1);

    // Of several requests at the same time, one starts the run, and the others get the response to this request.
    let session = opened(&served).await;
    let at_once = (0..6).map(|_| keyed(path(&session, "messages"), "k 4", json!({"text": "Go."})));
    let said = futures::future::join_all(at_once).await;
    let mut runs: Vec<_> = said.iter().map(|(_, said)| text(&said.1, "run")).collect();
    runs.dedup();
    assert_eq!((runs.len(), said.iter().filter(|(replayed, _)| !replayed).count()), (1, 1), "{said:?}");
}

#[tokio::test]
async fn words_at_once_begin_one_run() {
    let served = Served::playing(SCRIPT).await;
    let api = served.operator();
    let session = opened(&served).await;
    let body = json!({"text": "Go."});
    let said = futures::future::join_all((0..8).map(|_| say(&api, &session, &body))).await;
    assert!(said.iter().all(|said| said["run"] == said[0]["run"] || said["run"].is_string()));
    let runs = ok(api.get("/v1/runs").await);
    assert_eq!(runs["items"].as_array().unwrap().len(), 1, "{runs}");
    assert_eq!(conversation(&api, &session).await.iter().filter(|(_, text)| text == "Go.").count(), 8);
}

#[tokio::test]
async fn what_can_not_be_said() {
    let served = Served::playing(SCRIPT).await;
    let api = served.operator();
    let session = opened(&served).await;
    let empty = created(api.post("/v1/sessions", &json!({})).await);
    let asked = api.ask().await;
    let long = "x".repeat(64 * 1024 + 1);
    let table = [
        (&session, json!({"text": ""}), (422, "invalid_request", vec!["/text"])),
        (&session, json!({"text": long}), (422, "invalid_request", vec!["/text"])),
        (&session, json!({}), (422, "invalid_request", vec!["/text"])),
        (&session, json!({"text": "x", "too": 1}), (422, "invalid_request", vec!["/too"])),
        (&session, json!({"text": "x", "agent": "bob"}), (422, "invalid_request", vec!["/agent"])),
        (&session, json!({"text": "x", "to": "nonsense"}), (404, "not_found", vec![])),
        // `to` names a question of a different session.
        (&session, json!({"text": "x", "to": asked["id"]}), (404, "not_found", vec![])),
        (&empty, json!({"text": "x"}), (422, "invalid_request", vec![""])),
    ];
    for (session, body, expected) in table {
        assert_eq!(refusal(&api.post(&path(session, "messages"), &body).await), expected, "{body}");
    }
    let refused = served.agent().post(&path(&session, "messages"), &json!({"text": "x"})).await;
    assert_eq!(refusal(&refused), (403, "forbidden_role", vec![]));
    // An approval cannot be decided by a message.
    let of_it = json!({"id": asked["session"]});
    let refused = api.post(&path(&of_it, "messages"), &json!({"text": "yes", "to": asked["id"]})).await;
    assert_eq!(refusal(&refused), (422, "invalid_request", vec!["/to"]), "{}", asked["kind"]);
    assert_eq!(conversation(&api, &session).await, []);
    for (body, pointer) in [
        (json!({"config": {}}), "/config"),
        (
            json!({"workflow": "own", "config": {"gates": {"rules": [{"do": "allow"}]}}}),
            "/config/gates/rules/0",
        ),
        (json!({"workflow": "own", "config": {"wrkspace": "x"}}), "/config/wrkspace"),
    ] {
        let refused = api.post("/v1/sessions", &body).await;
        assert_eq!(refusal(&refused), (422, "invalid_request", vec![pointer]), "{body}");
    }
    // No run starts in a session that is not open.
    ok(api.post(&path(&session, "suspend"), &json!({})).await);
    let refused = api.post(&path(&session, "messages"), &json!({"text": "x"})).await;
    assert_eq!(refusal(&refused), (409, "session_suspended", vec![]));
}

/// A message to another agent cancels the run in the foreground. The named agent then works in the foreground.
#[tokio::test]
async fn another_agent_takes_the_front() {
    let workflow = "name: own
agents:
  ada: {instructions: Ask., tools: [ask_human]}
  bob: {instructions: Say., tools: []}
phases:
  - {id: work, kind: one_shot, agent: ada}
";
    let served = Served::with_workflow_and_rehearsal(
        workflow,
        "agents:\n  ada:\n    - calls: [{tool: ask_human, arguments: {question: Which?}}]\n    - {text: I was ada.}\n  bob:\n    - {text: I am bob.}\n",
    )
    .await;
    let api = served.operator();
    let body = json!({"workflow": "own", "config": {"model": "rehearsal"}});
    let session = created(api.post("/v1/sessions", &body).await);
    let first = text(&say(&api, &session, &json!({"text": "Go."})).await, "run").to_owned();
    served.next_of(&first).await;
    let second = text(&say(&api, &session, &json!({"text": "You.", "agent": "bob"})).await, "run").to_owned();
    assert_eq!(served.ended(&first).await["status"], "cancelled");
    assert_eq!(served.ended(&second).await["status"], "completed");
    let third = text(&say(&api, &session, &json!({"text": "Still you."})).await, "run").to_owned();
    served.ended(&third).await;
    let said = conversation(&api, &session).await;
    assert_eq!(
        said[2..],
        pairs(&[
            ("operator", "You."),
            ("bob", "I am bob."),
            ("operator", "Still you."),
            ("bob", "I am bob."),
        ])[..]
    );
}
