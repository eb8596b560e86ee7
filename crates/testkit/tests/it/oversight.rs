//! Smart approval with the real binary (cases 10 and 11): keywords, a model as the judge, and gates that a run adds.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use crate::play::{count, done, last_told, one, play, read, write};

/// Returns a workflow whose rules allow everything, so that only smart approval asks a person.
fn watched(smart: &str) -> String {
    format!(
        "
name: solo
agents: {{solo: {{instructions: Work., tools: [read_file, run_command]}}}}
phases: [{{id: work, kind: one_shot, agent: solo}}]
gates: {{smart: {smart}, rules: [{{tools: [\"*\"], do: allow}}]}}
"
    )
}

fn reasons(interrupt: &Value) -> Vec<String> {
    let reasons = interrupt["risk"]["reasons"].as_array().cloned().unwrap_or_default();
    reasons.iter().map(|reason| format!("{} {}", reason["source"], reason["code"]).replace('"', "")).collect()
}

fn verdict(escalate: bool, reasons: &[&str]) -> Scripted {
    Scripted::text(json!({ "escalate": escalate, "reasons": reasons }).to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_keyword_asks_with_its_reason_and_the_number_of_files() {
    let delete = || ("run_command", json!({ "command": "rm -r old_data # delete old_data/" }));
    let workflow = watched("{keywords: [delete], judge: off}");
    let (model, server) = play(&workflow, [one(read("data.txt")), one(delete()), done()]).await;
    std::fs::write(server.workspace().join("data.txt"), "read data").unwrap();
    std::fs::create_dir(server.workspace().join("old_data")).unwrap();
    for n in 0..500 {
        std::fs::write(server.workspace().join(format!("old_data/{n}")), "").unwrap();
    }
    let run = server.start_run("solo", "Tidy up.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(
        (&asked["kind"], reasons(&asked)),
        (&json!("tool_approval"), vec!["smart keyword".to_owned(), "inspection deletes_folders".to_owned()])
    );
    assert_eq!(asked["risk"]["reasons"][0]["text"], "the keyword `delete` occurs in the arguments");
    assert_eq!(asked["impact"], json!({ "files": 500 }));
    assert!(asked["title"].as_str().unwrap().ends_with("(500 files)"), "{}", asked["title"]);
    let ids: Vec<&str> =
        asked["options"].as_array().unwrap().iter().filter_map(|each| each["id"].as_str()).collect();
    assert_eq!(ids, ["approve", "edit", "respond", "reject"]);

    server.decide(&asked, &json!({ "option": "respond", "text": "archive instead" })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert!(last_told(&model).contains("archive instead"));
    assert!(server.workspace().join("old_data/499").exists());

    let run = server.start_run("solo", "Tidy up.").await;
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "reject").await;
    let ended = server.wait_status(&run, &["failed"]).await;
    assert_eq!(ended["end_reason"], "rejected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_judges_and_survives_a_restart() {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(read("data.txt")), one(count("step")), done()]);
    model.push("overseer", Scripted::hang());
    model.push("overseer", verdict(true, &["it counts without need"]));
    model.push("overseer", verdict(false, &[]));
    let mut server = TestServer::setup().workflow("solo", &watched("on")).model(&model).start().await;
    std::fs::write(server.workspace().join("data.txt"), "read data").unwrap();
    let run = server.start_run("solo", "Count.").await;
    model.wait_for_requests(3).await;
    assert_eq!((server.lines("count.txt"), server.open(&run).await.len()), (0, 0), "judged first");
    server.restart().await;

    let asked = server.wait_one(&run).await;
    assert_eq!(reasons(&asked), ["smart judge", "smart judge_says"]);
    assert!(asked["risk"]["reasons"][1]["text"].as_str().unwrap().ends_with("it counts without need"));
    server.choose(&asked, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 1);

    // The judge's request has a response format and no tools, and the API shows this request.
    let sent = &model.requests_of("overseer")[0];
    assert_eq!(sent.body["response_format"]["type"], "json_schema");
    assert_eq!(sent.tools(), Vec::<String>::new());
    let told = server.get(&format!("/v1/runs/{run}/model-requests/3")).await.ok();
    let texts: Vec<&str> =
        told["messages"].as_array().unwrap().iter().filter_map(|each| each["text"].as_str()).collect();
    assert_eq!(texts.join("\n"), sent.texts().join("\n"));

    let run = server.start_run("solo", "Count.").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 2, "what the judge lets pass runs");
}

/// A run adds its own gates: checkpoints and smart approval.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_adds_checkpoints_and_words() {
    let (_model, server) = play(&watched("off"), [one(count("step")), done()]).await;
    let started = async |gates: Value| {
        let mut body = server.run_body("solo", "Count.");
        body["config"]["gates"] = gates;
        server.post("/v1/runs", &body).await
    };
    let gates =
        json!({ "mandatory": ["before_execution"], "smart": { "keywords": ["step"], "judge": "off" } });
    let run = started(gates.clone()).await.ok();
    assert_eq!(run["config"]["gates"], gates);
    let asked = server.wait_one(run["id"].as_str().unwrap()).await;
    assert_eq!(reasons(&asked), ["checkpoint before_execution", "smart keyword"]);

    let table = [
        json!({ "mandatory": ["before_lunch"] }),
        json!({ "smart": { "keywords": ["--"] } }),
        json!({ "smart": { "keywords": [""] } }),
        json!({ "smart": { "judge": "" } }),
        json!({ "smart": { "words": [] } }),
        json!({ "smart": true }),
    ];
    for gates in table {
        assert_eq!(started(gates.clone()).await.status, 422, "{gates}");
    }
}

/// Every interrupt names the checkpoint that opened it (contract E3).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_asks_says_at_which_checkpoint() {
    let workflow = "
name: solo
agents: {solo: {instructions: Work., tools: [create_plan, write_file, run_command]}}
phases: [{id: work, kind: one_shot, agent: solo}]
gates: {on_error: ask, mandatory: [after_planning, before_file_edit, before_execution]}
";
    let plan = ("create_plan", json!({ "subtasks": [{ "id": "a", "description": "do a" }] }));
    let look = ("run_command", json!({ "command": "ls" }));
    let script = [one(plan), one(write("a.txt", "a")), one(look), Scripted::status(400)];
    let (_model, server) = play(workflow, script).await;
    let run = server.start_run("solo", "Work.").await;
    let mut found = Vec::new();
    for option in ["approve", "approve", "approve", "abort"] {
        let asked = server.wait_one(&run).await;
        found.push(format!("{} {}", asked["kind"], asked["position"]).replace('"', ""));
        server.choose(&asked, option).await;
    }
    let expected = [
        "plan_approval after_planning",
        "tool_approval before_file_edit",
        "tool_approval before_execution",
        "error on_error",
    ];
    assert_eq!(found, expected);
}
