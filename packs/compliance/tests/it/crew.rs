//! The shipped crew `compliance` over the crew edge, on the folder of a case: from the start of a task to the released
//! report (contracts D1, D3, D4).

use std::fs;
use std::os::unix::fs::symlink;

use holdshort_testkit::model::{RecordedRequest, Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer, eventually};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::served::{AGENTS, TABLES, crew, sample};

const BASE: &str = "/edges/crew/api/v1";

async fn get(server: &TestServer, path: &str) -> Value {
    server.get(&format!("{BASE}{path}")).await.ok()
}

async fn post(server: &TestServer, path: &str, body: &Value) -> (u16, Value) {
    let answer = server.post(&format!("{BASE}{path}"), body).await;
    (answer.status, answer.body)
}

async fn wait_state(server: &TestServer, task: &str, state: &str) -> Value {
    eventually(&format!("{task} is {state}"), async || {
        let shown = get(server, &format!("/crew/status/{task}")).await;
        (shown["status"] == state).then_some(shown)
    })
    .await
}

/// Returns a folder that holds the complete case `T123`.
fn cases() -> TempDir {
    let cases = tempfile::tempdir().unwrap();
    let whole = cases.path().join("T123");
    fs::create_dir(&whole).unwrap();
    for name in TABLES {
        fs::write(whole.join(name), sample(name)).unwrap();
    }
    cases
}

fn with(cases: &TempDir) -> Setup {
    let named = cases.path().to_str().unwrap();
    TestServer::setup().env("CREW_CASES", named).env("CREW_RUNS_PER_MINUTE", "1000")
}

fn request_counts(model: &ScriptedModel) -> [usize; 5] {
    AGENTS.map(|agent| model.requests_of(agent).len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shipped_crew_is_paused_approved_and_brings_what_was_released() {
    let (model, cases) = (crew().await, cases());
    let mut server = with(&cases).model(&model).start().await;
    let body = json!({"crew_name": "fraud_analysis", "inputs": {
        "case": "T123", "as_of": "2026-03-31", "query": "What about Ash Hawthorn, C-1001?",
        "accounts": {"Rowan Elder": "DE02500105170137075030"},
    }});
    let (status, run) = post(&server, "/crew/run", &body).await;
    assert_eq!((status, &run["status"]), (200, &json!("paused")), "{run}");
    assert_eq!(run.get("rehearsal"), None, "a model spoke");
    let (task, review) = (run["task_id"].as_str().unwrap(), run["result"]["review_id"].clone());
    assert_eq!(request_counts(&model), [2, 2, 2, 2, 0], "the report waits");

    // Names of people are replaced by numbers before the journal records the input.
    let heard = model.requests_of("nlq_translator")[0].texts().join("\n");
    assert!(heard.contains("What about customer 1, customer 1?") && heard.contains("customer 2"), "{heard}");
    let inputs = get(&server, &format!("/crew/status/{task}")).await["inputs"].clone();
    let accounts = json!({"customer 2": "customer 2"});
    assert_eq!((&inputs["case"], &inputs["accounts"]), (&json!("T123"), &accounts), "{inputs}");
    let begun = server.events_of(task, "run_started").await[0].to_string();
    let spoken: Vec<String> = model.requests().iter().flat_map(RecordedRequest::texts).collect();
    for name in ["Hawthorn", "C-1001", "Elder", "DE02500105170137075030"] {
        assert!(!begun.contains(name) && !spoken.iter().any(|text| text.contains(name)), "{name}: {begun}");
    }

    // The pause survives a restart of the server.
    server.restart().await;
    let shown = get(&server, &format!("/crew/review/{task}")).await;
    let report = shown["details"]["content"].clone();
    let implications = shown["regulatory_implications"].as_array().unwrap();
    assert!(implications.iter().any(|text| text.as_str().unwrap().contains("FATF")), "{shown}");
    assert!(report.as_str().unwrap().contains("F3 structuring: customer 1, 12850.00 EUR"), "{shown}");
    assert_eq!((&shown["review_id"], &shown["status"]), (&review, &json!("pending")));
    let decision = json!({"status": "approved", "comments": "to the officer", "review_id": review});
    let (status, told) = post(&server, &format!("/crew/resume/{task}"), &decision).await;
    assert_eq!((status, &told["status"]), (200, &json!("resuming")), "{told}");
    let done = wait_state(&server, task, "COMPLETED").await;
    assert_eq!(done["result"], report, "what was shown is what is released");
    assert_eq!(request_counts(&model), [2, 2, 2, 2, 1], "nobody is asked again");
    let heard = model.requests_of("report_writer")[0].texts().join("\n");
    assert!(heard.contains("The review was approved by operator: to the officer"), "{heard}");
}

/// Tests that a task that names only a case gets a general question, and that the case is examined as of today. A
/// rejection releases no report.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_case_alone_is_enough_to_begin() {
    let (model, cases) = (crew().await, cases());
    let server = with(&cases).model(&model).start().await;
    let body = json!({"crew_name": "compliance", "inputs": {"case": "T123"}});
    let (_, run) = post(&server, "/crew/run", &body).await;
    assert_eq!(run["status"], "paused", "{run}");
    let heard = model.requests_of("nlq_translator")[0].texts().join("\n");
    assert!(heard.contains("Does anything in this case need attention?"), "{heard}");
    let task = run["task_id"].as_str().unwrap();
    let decision = json!({"status": "rejected", "comments": "the rows are of another case"});
    post(&server, &format!("/crew/resume/{task}"), &decision).await;
    let failed = wait_state(&server, task, "FAILED").await;
    assert!(
        failed["result"].is_null() && failed["error"].as_str().unwrap().contains("another case"),
        "{failed}"
    );
    assert_eq!(request_counts(&model)[4], 0);
}

/// Tests a crew without a model, whose agents play a script. The findings and the pause are real, and every response
/// says that it is a rehearsal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_model_the_crew_rehearses_and_says_so() {
    let cases = cases();
    let server = with(&cases).start().await;
    let inputs = json!({"case": "T123", "as_of": "2026-03-31"});
    let body = json!({"crew_name": "compliance", "inputs": inputs, "async_execution": true});
    let (status, run) = post(&server, "/crew/run", &body).await;
    assert_eq!((status, &run["rehearsal"]), (200, &json!(true)), "{run}");
    let task = run["task_id"].as_str().unwrap();
    let paused = wait_state(&server, task, "PAUSED").await;
    assert_eq!(paused["rehearsal"], true, "{paused}");
    post(&server, &format!("/crew/resume/{task}"), &json!({"status": "approved"})).await;
    let done = wait_state(&server, task, "COMPLETED").await;
    assert!(done["result"].as_str().unwrap().contains("F9 sanctions: customer 8"), "{done}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_case_in_the_folder_is_refused_where_it_stands() {
    let (model, cases) = (crew().await, cases());
    let elsewhere = tempfile::tempdir().unwrap();
    let whole = cases.path().join("T123");
    symlink(&whole, cases.path().join("linked")).unwrap();
    symlink(elsewhere.path(), cases.path().join("outside")).unwrap();
    fs::write(cases.path().join("file"), "x").unwrap();
    for name in ["empty", "partial"] {
        fs::create_dir(cases.path().join(name)).unwrap();
    }
    fs::write(cases.path().join("partial/customers.csv"), sample("customers.csv")).unwrap();
    let server = with(&cases).model(&model).start().await;
    let table: [(Value, &str, &str); 14] = [
        (json!({"case": "T124"}), "/inputs/case", "is not a folder in CREW_CASES"),
        (json!({"case": "linked"}), "/inputs/case", "links are not followed"),
        (json!({"case": "outside"}), "/inputs/case", "links are not followed"),
        (json!({"case": "file"}), "/inputs/case", "is not a folder"),
        (json!({"case": "../T123"}), "/inputs/case", "plain name"),
        (json!({"case": "T123/"}), "/inputs/case", "plain name"),
        (json!({"case": whole.to_str().unwrap()}), "/inputs/case", "plain name"),
        (json!({"case": "."}), "/inputs/case", "plain name"),
        (json!({"case": ""}), "/inputs/case", "plain name"),
        (json!({"case": 7}), "/inputs/case", "plain name"),
        (json!({"query": "any?"}), "/inputs/case", "is missing"),
        (json!({"case": "empty"}), "/inputs/case", "contains no case: transactions.csv"),
        (json!({"case": "partial"}), "/inputs/case", "missing_file"),
        (json!({"case": "T123", "as_of": "31.3.2026"}), "/inputs/as_of", "is not a day"),
    ];
    for (inputs, pointer, why) in table {
        let body = json!({"crew_name": "compliance", "inputs": inputs});
        let (status, told) = post(&server, "/crew/run", &body).await;
        assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!(pointer)), "{inputs}: {told}");
        assert!(told["detail"].as_str().unwrap().contains(why), "{inputs}: {told}");
    }
    assert_eq!(get(&server, "/crew/tasks").await["count"], 0);
    assert!(model.requests().is_empty());

    let server = TestServer::setup().model(&model).start().await;
    let body = json!({"crew_name": "compliance", "inputs": {"case": "T123"}});
    let (status, told) = post(&server, "/crew/run", &body).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/inputs/case")), "{told}");
    assert!(told["detail"].as_str().unwrap().contains("start the server with CREW_CASES"), "{told}");
}

/// Workflow of a crew whose input is not named `task`. Its agents read the complete input.
const ASKED: &str = "
name: asked
input:
  type: object
  required: [question]
  properties: {question: {type: string}}
  additionalProperties: true
agents:
  solo: {instructions: You look., tools: [case_overview]}
phases:
  - {id: work, kind: one_shot, agent: solo}
";

/// Workflow of a crew without a case. Its input is a task in words.
const FRAUD: &str = "
name: fraud
agents:
  fraud_writer: {instructions: You write.}
phases:
  - {id: report, kind: one_shot, agent: fraud_writer}
";

/// Tests that an erasure request finds a task by the `subject` of its start request. No agent receives the subject.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_is_erased_by_whom_it_is_about() {
    let (model, cases) = (crew().await, cases());
    // The agent never replies, so that the run cannot complete before it is cancelled.
    model.push("fraud_writer", Scripted::hang());
    let setup = with(&cases).workflow("asked", ASKED).workflow("fraud", FRAUD);
    let server = setup.model(&model).start().await;
    let of_case = |words: &str, subject: &str| json!({"case": "T123", "as_of": "2026-03-31", words: "Any about C-1001?", "subject": subject});
    let mut tasks = Vec::new();
    for (crew, inputs, waits) in [
        // A question with other inputs; an input with the workflow's key `task`; a crew without a case.
        ("compliance", of_case("query", "C-1001"), true),
        ("compliance", of_case("task", "Rowan Elder"), false),
        ("fraud", json!({"query": "Any?", "subject": "customer 1"}), false),
    ] {
        let body = json!({"crew_name": crew, "inputs": inputs, "async_execution": !waits});
        let (status, run) = post(&server, "/crew/run", &body).await;
        assert_eq!(status, 200, "{run}");
        let task = run["task_id"].as_str().unwrap().to_owned();
        server.post(&format!("/v1/runs/{task}/cancel"), &json!({})).await.ok();
        wait_state(&server, &task, "FAILED").await;
        tasks.push((inputs["subject"].clone(), task));
    }
    let spoken: Vec<String> = model.requests().iter().flat_map(RecordedRequest::texts).collect();
    for name in ["C-1001", "Rowan Elder"] {
        assert!(!spoken.is_empty() && !spoken.iter().any(|text| text.contains(name)), "{name}");
    }
    for (subject, task) in tasks {
        let run = server.get(&format!("/v1/runs/{task}")).await.ok();
        let words = run["input"]["task"].as_str().unwrap();
        assert!(words.contains("Any") && !words.contains("subject"), "{words}");
        let told = server.post("/v1/erasures", &json!({ "subject": subject })).await.ok();
        assert_eq!(told["erased"], json!([task]), "{subject}: {told}");
    }

    let body = json!({"crew_name": "asked", "inputs": of_case("question", "C-1001")});
    let (status, told) = post(&server, "/crew/run", &body).await;
    assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/inputs/subject")), "{told}");
    // Values of `subject` that an erasure request could never match, so the start is rejected.
    for subject in [json!(7), json!(" "), json!("a\nb"), json!("x".repeat(257)), json!({"id": "C-1001"})] {
        let body = json!({"crew_name": "fraud", "inputs": {"query": "Any?", "subject": subject}});
        let (status, told) = post(&server, "/crew/run", &body).await;
        assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/inputs/subject")), "{told}");
    }
}

/// Tests that a folder is rejected if its name contains the name, id or account of a person in the case. Facts contain
/// the name of the folder and are never erased.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_that_is_named_after_somebody_in_the_case_is_refused() {
    let (model, cases) = (crew().await, cases());
    let names = [
        "Ash Hawthorn",
        "2026 ASH HAWTHORN",
        "Ash  Hawthorn",
        "Ash\u{a0}Hawthorn",
        "C-1001",
        "of DE02500105170137075030",
    ];
    for name in names {
        let folder = cases.path().join(name);
        fs::create_dir(&folder).unwrap();
        for table in TABLES {
            fs::write(folder.join(table), sample(table)).unwrap();
        }
    }
    let server = with(&cases).model(&model).start().await;
    for name in names {
        let body = json!({"crew_name": "compliance", "inputs": {"case": name, "as_of": "2026-03-31"}});
        let (status, told) = post(&server, "/crew/run", &body).await;
        assert_eq!((status, &told["errors"][0]["pointer"]), (422, &json!("/inputs/case")), "{name}: {told}");
        let detail = told["detail"].as_str().unwrap();
        assert!(detail.contains("rename the folder") && !detail.contains(name), "{detail}");
    }
    assert_eq!(get(&server, "/crew/tasks").await["count"], 0);
}

/// Tests that a repeated start request returns the same task, even if the case was archived after the first request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeat_is_the_same_task_whatever_has_become_of_its_case() {
    let (model, cases) = (crew().await, cases());
    let server = with(&cases).model(&model).start().await;
    let run = async |as_of: &'static str| {
        let inputs = json!({"case": "T123", "as_of": as_of});
        let body = json!({"crew_name": "compliance", "inputs": inputs});
        let request = server.request(reqwest::Method::POST, &format!("{BASE}/crew/run"));
        server.send(request.header("idempotency-key", "T123").json(&body)).await
    };
    let first = run("2026-03-31").await.ok();
    assert_eq!(first["status"], "paused", "{first}");
    fs::rename(cases.path().join("T123"), cases.path().join("archived")).unwrap();
    assert_eq!(run("2026-03-31").await.ok(), first);
    let other = run("2026-04-01").await;
    assert_eq!((other.status, &other.body["code"]), (422, &json!("idempotency_key_reused")));
    assert_eq!(get(&server, "/crew/tasks").await["count"], 1);
}
