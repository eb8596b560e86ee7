//! The compliance crew with the real binary: rules hold the report back, the shown report is released, and no person's
//! name appears anywhere (contract D1, D3, D7, E9; cases 37, 38, 39, 43).

use std::path::Path;

use holdshort_core::digest::Digest;
use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use holdshort_testkit::sink::WebhookSink;
use serde_json::{Value, json};

/// Secret that signs the crew's webhooks.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

pub(crate) const AGENTS: [&str; 5] =
    ["nlq_translator", "graph_analyst", "fraud_pattern_hunter", "compliance_checker", "report_writer"];
pub(crate) const TABLES: [&str; 3] = ["transactions.csv", "customers.csv", "watchlist.csv"];

pub(crate) fn sample(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("workflows/compliance/sample");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Returns scripted agents that use all of their tools and report nothing suspicious.
pub(crate) async fn crew() -> ScriptedModel {
    let model = ScriptedModel::start().await;
    let all = |group_by: &str| ("case_query", json!({ "group_by": group_by }));
    let looks = [
        Scripted::calls([("case_overview", json!({})), all("customer"), all("party")]),
        Scripted::calls([all("customer_and_party"), all("country"), all("day")]),
        Scripted::calls([("case_findings", json!({})), all("currency")]),
        Scripted::calls([
            ("case_findings", json!({ "rule": "sanctions" })),
            ("case_findings", json!({ "customer": 1 })),
        ]),
    ];
    for (agent, look) in AGENTS.into_iter().zip(looks) {
        model.script(agent, vec![look, Scripted::text(format!("Nothing to worry about, says {agent}."))]);
    }
    model.script("report_writer", vec![Scripted::text("Here is the report.")]);
    model
}

async fn server(model: &ScriptedModel, sink: &WebhookSink) -> TestServer {
    let channels = format!(
        "channels:\n  hook: {{type: webhook, url: \"{}\", secret_env: HOOK_SECRET, allow: [127.0.0.0/8], title: true}}\n",
        sink.url("/hook")
    );
    let brief = "name: brief\nextends: compliance\ngates:\n  review: {options: [approve, reject], expires_in: 300ms, on_expiry: reject}\n";
    let server = TestServer::setup()
        .model(model)
        .channels(&channels)
        .workflow("brief", brief)
        .env("HOOK_SECRET", SECRET)
        .env("HOLDSHORT_LOG", "debug")
        .start()
        .await;
    for name in TABLES {
        std::fs::write(server.workspace().join(name), sample(name)).unwrap();
    }
    server
}

pub(crate) fn body(server: &TestServer, workflow: &str) -> Value {
    let mut body = server.run_body(workflow, "What needs attention?");
    body["input"]["case"] = json!("sample");
    body["input"]["as_of"] = json!("2026-03-31");
    body
}

async fn start(server: &TestServer, workflow: &str) -> String {
    let run = server.post("/v1/runs", &body(server, workflow)).await.ok();
    run["id"].as_str().unwrap().to_owned()
}

fn counts(model: &ScriptedModel) -> Vec<usize> {
    AGENTS.iter().map(|agent| model.requests_of(agent).len()).collect()
}

/// Returns every text in the sample's tables that identifies a person.
pub(crate) fn personal() -> Vec<String> {
    let mut words = Vec::new();
    for (name, columns) in [
        ("customers.csv", &[0, 1, 2, 5][..]),
        ("watchlist.csv", &[0, 1, 2, 3]),
        ("transactions.csv", &[0, 2, 7]),
    ] {
        for line in sample(name).lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            words.extend(
                columns
                    .iter()
                    .filter_map(|at| cells.get(*at))
                    .map(|cell| cell.trim_matches('"').to_lowercase()),
            );
        }
    }
    words.retain(|word| word.len() > 3);
    words.sort();
    words.dedup();
    assert!(words.len() > 190, "{}", words.len());
    words
}

/// Tests cases 37, 38 and 43: the report is held for review although the checker does not ask for it, stays held over a
/// restart, and is released as shown. Then the crew continues with the next phase.
#[tokio::test(flavor = "multi_thread")]
async fn the_report_is_held_and_released_as_it_was_shown_and_names_nobody() {
    let (model, sink) = (crew().await, WebhookSink::start().await);
    let mut server = server(&model, &sink).await;
    let run = start(&server, "compliance").await;
    let held = server.wait_one(&run).await;
    assert_eq!((&held["kind"], &held["step"]), (&json!("review"), &json!("release")));
    assert_eq!(held["agent"], "compliance_checker");
    assert_eq!(held["risk"]["level"], "critical");
    let options: Vec<&Value> =
        held["options"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
    assert_eq!(options, ["approve", "reject"]);
    let shown = held["payload"]["content"].as_str().unwrap().to_owned();
    let digest = Digest::of_bytes(shown.as_bytes()).to_string();
    assert_eq!(held["action_digest"], json!(digest));
    assert!(shown.contains("F9 sanctions: customer 8"), "{shown}");
    assert_eq!(held["payload"]["details"]["held_because"].as_array().unwrap().len(), 7);
    assert_eq!(counts(&model), [2, 2, 2, 2, 0]);
    sink.wait_for(1).await;

    server.restart().await;
    assert_eq!(server.wait_one(&run).await, held);
    // Changes of the tables after the report was built do not change the report.
    std::fs::write(server.workspace().join("transactions.csv"), "changed").unwrap();
    server.decide(&held, &json!({"option": "approve", "text": "Rows checked."})).await.ok();
    let run_after = server.wait_status(&run, &["completed"]).await;
    assert_eq!(counts(&model), [2, 2, 2, 2, 1]);
    assert_eq!(run_after["result"]["text"], json!(shown));
    assert_eq!(run_after["result"]["released"][0]["content"], json!(shown));
    assert_eq!(run_after["result"]["phases"]["report_writer"], "Here is the report.");
    let told = model.requests_of("report_writer")[0].texts().join("\n");
    assert!(told.contains("F9 sanctions: customer 8") && told.contains("Rows checked."), "{told}");
    let released = &server.events_of(&run, "output_released").await[0];
    assert_eq!(released["data"]["digest"], json!(digest));
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);

    sink.wait_for(2).await;
    let mut everywhere = vec![
        server.events(&run).await.iter().map(Value::to_string).collect::<String>(),
        server.get(&format!("/v1/interrupts/{}", held["id"].as_str().unwrap())).await.ok().to_string(),
        run_after.to_string(),
        server.get("/v1/deliveries?limit=200").await.ok().to_string(),
        server.stderr(),
    ];
    everywhere.extend(model.requests().into_iter().map(|request| request.body.to_string()));
    everywhere.extend(sink.received().into_iter().map(|each| String::from_utf8(each.body).unwrap()));
    let everywhere = everywhere.join("\n").to_lowercase();
    assert!(everywhere.contains("compliance report: 12 findings"));
    for word in personal() {
        assert!(!everywhere.contains(&word), "{word}");
    }
}

/// Tests case 39: a rejection fails the run with the reviewer's text.
#[tokio::test(flavor = "multi_thread")]
async fn a_rejection_fails_the_run_and_nobody_writes() {
    let (model, sink) = (crew().await, WebhookSink::start().await);
    let server = server(&model, &sink).await;
    let run = start(&server, "compliance").await;
    let held = server.wait_one(&run).await;
    let edit = json!({"option": "edit", "edit": "Nothing was found."});
    assert_eq!(server.decide(&held, &edit).await.status, 422);
    server.decide(&held, &json!({"option": "reject", "text": "The rows are wrong."})).await.ok();
    let failed = server.wait_status(&run, &["failed"]).await;
    assert_eq!(failed["end_reason"], "rejected");
    assert!(failed["end_message"].as_str().unwrap().contains("The rows are wrong."), "{failed}");
    assert_eq!((counts(&model)[4], server.events_of(&run, "output_released").await.len()), (0, 0));
    assert!(!failed["result"].to_string().contains("F9"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_in_time_is_expired_and_told_on_every_channel() {
    let (model, sink) = (crew().await, WebhookSink::start().await);
    let server = server(&model, &sink).await;
    let run = start(&server, "brief").await;
    let failed = server.wait_status(&run, &["failed"]).await;
    assert_eq!(failed["end_reason"], "expired");
    let kinds = eventually("told of the expiry", async || {
        let kinds: Vec<String> =
            sink.received().iter().map(|each| each.json()["type"].as_str().unwrap().to_owned()).collect();
        (kinds.len() >= 2).then_some(kinds)
    });
    assert_eq!(kinds.await, ["interrupt.opened", "interrupt.expired"]);
    assert_eq!(counts(&model)[4], 0);
}

/// Tests that the agent `checker` may hold back a text of its own, besides the report that rules hold back. After its
/// release, the crew continues with the next phase: the checker is not called again, and its result is the released
/// text (contract D3).
#[tokio::test(flavor = "multi_thread")]
async fn what_the_checker_hands_in_waits_as_well() {
    let (model, sink) = (crew().await, WebhookSink::start().await);
    let asks =
        json!({"title": "Look at customer 8", "content": "A name is like another.", "risk_level": "high"});
    model.script(
        "compliance_checker",
        vec![Scripted::call("request_review", asks), Scripted::text("This is never asked for.")],
    );
    let server = server(&model, &sink).await;
    let run = start(&server, "compliance").await;
    let first = server.wait_one(&run).await;
    assert_eq!(
        (&first["step"], &first["payload"]["content"]),
        (&json!("compliance_checker"), &json!("A name is like another."))
    );
    server.decide(&first, &json!({"option": "approve", "text": "Rows checked."})).await.ok();
    let second = server.wait_one(&run).await;
    assert_eq!(second["step"], "release");
    assert_eq!(counts(&model), [2, 2, 2, 1, 0]);
    server.choose(&second, "approve").await;
    let done = server.wait_status(&run, &["completed"]).await;
    assert_eq!(done["result"]["released"].as_array().unwrap().len(), 2);
    assert_eq!(done["result"]["phases"]["compliance_checker"], "A name is like another.");
    let told = model.requests_of("report_writer")[0].texts().join("\n");
    assert!(told.contains("A name is like another.") && told.contains("Rows checked."), "{told}");
}

/// Tests that the crew works only with the question if there are no tables. A case that the input names must exist and
/// be complete.
#[tokio::test(flavor = "multi_thread")]
async fn without_a_case_nothing_is_computed_and_a_broken_one_fails_the_run() {
    let (model, sink) = (crew().await, WebhookSink::start().await);
    for agent in AGENTS {
        model.script(agent, vec![Scripted::text(format!("The words of {agent}."))]);
    }
    let server = server(&model, &sink).await;
    let table = server.workspace().join("transactions.csv");
    std::fs::write(&table, sample("transactions.csv").replacen("EUR", "XXX", 1)).unwrap();
    let run = start(&server, "compliance").await;
    let failed = server.wait_status(&run, &["failed"]).await;
    assert_eq!(failed["end_reason"], "call_failed");
    let why = failed["end_message"].as_str().unwrap();
    assert!(
        why.starts_with("bad_case: transactions.csv:2: column 7 (`currency`): unknown_currency."),
        "{why}"
    );

    for name in TABLES {
        std::fs::remove_file(server.workspace().join(name)).unwrap();
    }
    let run = start(&server, "compliance").await;
    assert_eq!(server.wait_status(&run, &["failed"]).await["end_reason"], "call_failed");
    let run = server.start_run("compliance", "What do you think?").await;
    let done = server.wait_status(&run, &["completed"]).await;
    assert_eq!(done["result"]["text"], "The words of report_writer.");
}
