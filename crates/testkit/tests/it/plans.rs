//! Plans over HTTP with the real binary. Plans are proposed, decided, carried out, and edited while they run (cases 01
//! to 08, 29).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Answer, TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::play::{command, count, done, one, write};

const PLANNED: &str = "
name: planned
agents:
  planner: {instructions: Plan.}
  engineer: {instructions: Build., tools: [run_command]}
  writer: {instructions: Write.}
phases:
  - {id: plan, kind: planning, agents: {planner: planner}}
  - {id: work, kind: control, agent: engineer}
gates:
  rules: [{tools: [run_command], do: allow}]
";

fn subtask(id: &str, needs: &[&str]) -> Value {
    json!({ "id": id, "description": format!("do {id}"), "depends_on": needs })
}

fn plan(subtasks: &[Value]) -> Value {
    json!({ "subtasks": subtasks })
}

fn proposes(subtasks: &[Value]) -> Scripted {
    Scripted::text(format!("This is what I would do: {}", plan(subtasks)))
}

async fn proposed(workflow: &str, plans: &[Scripted]) -> (ScriptedModel, TestServer, String) {
    let model = ScriptedModel::start().await;
    model.script("planner", plans);
    model.script("engineer", [one(count("step")), done()]);
    let server = TestServer::setup().workflow("planned", workflow).model(&model).start().await;
    let run = server.start_run("planned", "Build it.").await;
    (model, server, run)
}

async fn replan(server: &TestServer, run: &str, body: &Value) -> Answer {
    server.send(server.request(Method::PUT, &format!("/v1/runs/{run}/plans/plan")).json(body)).await
}

async fn statuses(server: &TestServer, run: &str) -> String {
    let plans = server.get(&format!("/v1/runs/{run}/plans")).await.ok();
    let subtasks = plans["items"][0]["subtasks"].as_array().unwrap();
    subtasks
        .iter()
        .map(|each| format!("{} {}", each["id"], each["status"]).replace('"', ""))
        .collect::<Vec<_>>()
        .join(", ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_revised_approved_and_carried_out() {
    let drafts = [proposes(&[subtask("a", &[])]), proposes(&[subtask("a", &[]), subtask("b", &["a"])])];
    let (model, server, run) = proposed(PLANNED, &drafts).await;
    let first = server.wait_one(&run).await;
    assert_eq!((&first["kind"], &first["position"]), (&json!("plan_approval"), &json!("plan")));
    let options: Vec<&str> =
        first["options"].as_array().unwrap().iter().filter_map(|each| each["id"].as_str()).collect();
    assert_eq!(options, ["approve", "edit", "revise", "reject"]);
    assert_eq!(server.lines("count.txt"), 0, "nothing runs before the decision");

    server.decide(&first, &json!({ "option": "revise", "text": "add tests" })).await.ok();
    let second = server.wait_one(&run).await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!(second["payload"]["iteration"], 2);
    assert!(model.requests_of("planner")[1].texts().join("\n").contains("add tests"));
    assert_eq!(statuses(&server, &run).await, "a pending, b pending");

    server.decide(&second, &json!({ "option": "approve", "text": "mind the units" })).await.ok();
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!((&ended["end_reason"], server.lines("count.txt")), (&json!("done"), 2));
    assert_eq!(statuses(&server, &run).await, "a completed, b completed");
    let told: Vec<String> =
        model.requests_of("engineer").iter().map(|request| request.texts().join("\n")).collect();
    assert!(
        told.iter().all(|told| told.contains("mind the units") && told.contains("add tests")),
        "{told:#?}"
    );

    // The API returns each model request exactly as it was sent.
    for n in 1..=6 {
        let request = server.get(&format!("/v1/runs/{run}/model-requests/{n}")).await.ok();
        let texts: Vec<&str> =
            request["messages"].as_array().unwrap().iter().filter_map(|each| each["text"].as_str()).collect();
        assert_eq!(texts.join("\n"), model.requests()[n - 1].texts().join("\n"), "request {n}");
    }
    assert_eq!(server.get(&format!("/v1/runs/{run}/model-requests/7")).await.refusal(), (404, "not_found"));
    let session = ended["session"].as_str().unwrap();
    let plans = server.get(&format!("/v1/sessions/{session}/plans")).await.ok();
    assert_eq!(plans["items"][0]["versions"].as_array().map(Vec::len), Some(2));
    // With a second run in the session, each page lists one plan, newest first.
    model.script("planner", [Scripted::hang()]);
    let config = json!({ "workspace": server.workspace() });
    let body =
        json!({ "workflow": "planned", "input": { "task": "Again." }, "session": session, "config": config });
    server.post("/v1/runs", &body).await.ok();
    let page = server.get(&format!("/v1/sessions/{session}/plans?limit=1")).await.ok();
    assert_eq!(page["items"], json!([]), "it has none yet");
    let cursor = page["next_cursor"].as_str().unwrap();
    let page = server.get(&format!("/v1/sessions/{session}/plans?limit=1&cursor={cursor}")).await.ok();
    assert_eq!((&page["items"], &page["next_cursor"]), (&plans["items"], &Value::Null));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_is_no_plan_is_refused_and_one_that_is_replaces_it() {
    let (_model, server, run) = proposed(PLANNED, &[proposes(&[subtask("a", &[])])]).await;
    let asked = server.wait_one(&run).await;
    let nobody = json!({ "id": "x", "description": "y", "agent": "nobody" });
    let table = [
        (plan(&[]), "/edit/subtasks"),
        (plan(&[nobody]), "/edit/subtasks/0/agent"),
        (plan(&[subtask("a", &["b"]), subtask("b", &["a"])]), "/edit/subtasks"),
        (plan(&[subtask("a", &[]), subtask("a", &[])]), "/edit/subtasks/1/id"),
        (plan(&[subtask("a", &["ghost"])]), "/edit/subtasks/0/depends_on/0"),
        (plan(&(0..1_000).map(|n| subtask(&n.to_string(), &[])).collect::<Vec<_>>()), "/edit/subtasks"),
        (json!("do it"), "/edit"),
        (plan(&[json!(["a", "do a"])]), "/edit/subtasks/0"),
        (json!([[subtask("a", &[])]]), "/edit"),
    ];
    for (edit, pointer) in table {
        let refused = server.decide(&asked, &json!({ "option": "edit", "edit": edit })).await;
        assert_eq!(refused.refusal(), (422, "invalid_request"), "{edit}");
        assert_eq!(refused.body["errors"][0]["pointer"], pointer, "{edit}");
    }
    assert_eq!(server.wait_one(&run).await["id"], asked["id"], "it is still open");
    let edit = plan(&[subtask("c", &[]), subtask("d", &["c"])]);
    server.decide(&asked, &json!({ "option": "edit", "edit": edit })).await.ok();
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(statuses(&server, &run).await, "c completed, d completed");

    let (_model, server, run) = proposed(PLANNED, &[proposes(&[subtask("a", &[])])]).await;
    let asked = server.wait_one(&run).await;
    server.decide(&asked, &json!({ "option": "reject", "text": "wrong" })).await.ok();
    let ended = server.wait_status(&run, &["failed"]).await;
    assert_eq!((&ended["end_reason"], server.lines("count.txt")), (&json!("rejected"), 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_skips_what_depends_on_it_and_the_run_says_so() {
    let graph = [
        json!({ "id": "a", "description": "do a", "agent": "writer" }),
        subtask("b", &["a"]),
        subtask("c", &[]),
    ];
    let (model, server, run) = proposed(PLANNED, &[proposes(&graph)]).await;
    model.script("writer", [Scripted::status(400)]);
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "approve").await;
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(ended["end_reason"], "partial");
    assert_eq!(statuses(&server, &run).await, "a failed, b skipped, c completed");
    let work = &ended["result"]["phases"]["work"];
    let tries = ["a", "b", "c"].map(|id| work[id]["attempts"].clone());
    assert_eq!(tries, [json!(1), json!(0), json!(1)], "what was never begun was not tried: {work}");
}

/// After a run has ended, none of its subtasks is active (lesson 12).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_cancelled_leaves_no_subtask_at_work() {
    let workflow = PLANNED.replace("agent: engineer}", "agent: engineer, gates: {before_step: ask}}");
    let (_model, server, run) =
        proposed(&workflow, &[proposes(&[subtask("a", &[]), subtask("b", &["a"])])]).await;
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "approve").await;
    let before_a = server.wait_one(&run).await;
    for blank in ["", " \n"] {
        let refused = server.decide(&before_a, &json!({ "option": "edit", "edit": blank })).await;
        assert_eq!(refused.body["errors"][0]["pointer"], "/edit", "nobody works on nothing: {blank:?}");
    }
    assert_eq!(statuses(&server, &run).await, "a waiting, b pending");
    server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).await.ok();
    assert_eq!(statuses(&server, &run).await, "a cancelled, b not_run");
}

/// A plan continues after its server was killed. A new version of the plan that was submitted before the kill takes
/// effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_written_anew_across_a_restart() {
    let gated = format!("{PLANNED}  after_step: ask\n");
    let (_model, mut server, run) =
        proposed(&gated, &[proposes(&[subtask("a", &[]), subtask("b", &["a"])])]).await;
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "approve").await;
    let after_a = server.wait_one(&run).await;
    assert_eq!((&after_a["position"], &after_a["step"]), (&json!("after_step"), &json!("work/a")));
    assert_eq!(statuses(&server, &run).await, "a waiting, b pending");

    let gone = replan(&server, &run, &json!({ "plan": plan(&[subtask("b", &[])]) })).await;
    assert_eq!(gone.refusal(), (422, "invalid_request"), "`a` has started");
    let better = plan(&[subtask("a", &[]), subtask("x", &["a"])]);
    let listed = replan(&server, &run, &json!({ "plan": { "subtasks": [["a", "do a"]] } })).await;
    assert_eq!(
        (listed.refusal(), &listed.body["errors"][0]["pointer"]),
        ((422, "invalid_request"), &json!("/plan/subtasks/0"))
    );
    let stale = replan(&server, &run, &json!({ "plan": better, "version": 4 })).await;
    assert_eq!(stale.refusal(), (409, "stale"));
    let held = replan(&server, &run, &json!({ "plan": better, "version": 1 })).await.ok();
    assert_eq!((&held["items"][0]["held"], &held["items"][0]["version"]), (&json!(true), &json!(1)));
    server.kill();
    server.start().await;
    server.choose(&after_a, "continue").await;
    let new = server.wait_one(&run).await;
    assert_eq!((&new["kind"], &new["payload"]["version"]), (&json!("plan_approval"), &json!(2)));
    assert_eq!(statuses(&server, &run).await, "a completed, b pending", "nothing of the old plan starts");
    server.choose(&new, "approve").await;
    let after_x = server.wait_one(&run).await;
    assert_eq!(after_x["step"], "work/x");
    server.choose(&after_x, "continue").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(
        (statuses(&server, &run).await.as_str(), server.lines("count.txt")),
        ("a completed, x completed", 2)
    );
    assert_eq!(replan(&server, &run, &json!({ "plan": better })).await.refusal(), (409, "run_ended"));
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

/// A subtask that waits at `before_step` has not started, so a new plan may change it. The person is then asked about
/// the changed subtask, even if the server is killed before that.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_edited_where_a_subtask_is_held_before_it_begins() {
    let gated = format!("{PLANNED}  before_step: ask\n");
    let (_model, mut server, run) =
        proposed(&gated, &[proposes(&[subtask("a", &[]), subtask("b", &["a"])])]).await;
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "approve").await;
    let before_a = server.wait_one(&run).await;
    assert_eq!((&before_a["position"], &before_a["step"]), (&json!("before_step"), &json!("work/a")));

    let otherwise = json!({ "id": "a", "description": "do a otherwise", "depends_on": [] });
    replan(&server, &run, &json!({ "plan": plan(&[otherwise]), "version": 1 })).await.ok();
    let new = server.wait_one(&run).await;
    assert_eq!((&new["kind"], &new["payload"]["version"]), (&json!("plan_approval"), &json!(2)));
    let late = server.decide(&before_a, &json!({"option": "approve"})).await;
    assert_eq!(late.refusal(), (409, "already_resolved"));
    server.kill();
    server.start().await;
    server.choose(&new, "approve").await;
    let held = server.wait_one(&run).await;
    assert_eq!((&held["position"], &held["step"]), (&json!("before_step"), &json!("work/a")));
    assert!(held["payload"]["input"].to_string().contains("do a otherwise"), "{held:#}");
    assert_eq!(server.lines("count.txt"), 0, "nothing has begun");
    server.kill();
    server.start().await;
    server.choose(&held, "approve").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!((statuses(&server, &run).await.as_str(), server.lines("count.txt")), ("a completed", 1));
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_phase_has_its_own_options_and_its_own_time() {
    let workflow = "
name: planned
agents:
  planner: {instructions: Plan.}
  engineer: {instructions: Build., tools: [run_command]}
phases:
  - id: plan
    kind: planning
    agents: {planner: planner}
    gates: {plan_approval: {approvers: [operator], options: [approve, reject], expires_in: 1h}}
  - {id: work, kind: control, agent: engineer, gates: {checkpoint: {expires_in: 100ms, on_expiry: skip}}}
  - {id: release, kind: checkpoint, message: Release it?, gates: {checkpoint: {labels: {approve: Release}}}}
gates:
  before_step: ask
";
    let (_model, server, run) = proposed(workflow, &[proposes(&[subtask("a", &[])])]).await;
    let asked = server.wait_one(&run).await;
    let ids = |asked: &Value| {
        let options = asked["options"].as_array().unwrap().iter();
        options.filter_map(|each| each["id"].as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(ids(&asked), "approve reject");
    server.choose(&asked, "approve").await;
    // The interrupt of the step expires without a decision, and its option `on_expiry` takes effect.
    let asked = eventually("the release is asked about", || async {
        server.open(&run).await.into_iter().find(|each| each["position"] == "phase")
    })
    .await;
    let opened = server.events_of(&run, "interrupt_opened").await;
    let times: Vec<bool> = opened.iter().map(|event| event["data"]["expires_at"].is_string()).collect();
    assert_eq!(times, [true, true, false], "{opened:#?}");
    assert_eq!(
        (statuses(&server, &run).await.as_str(), server.lines("count.txt")),
        ("a skipped", 0),
        "the option of the phase's expiry"
    );
    assert_eq!(asked["options"][0]["label"], "Release");
}

/// The shipped workflow `research` runs on its own sample from the question to the report, without a model.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn research_plays_on_its_sample() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workflows/research");
    let server = TestServer::setup().start().await;
    for file in ["README.md", "rain.csv"] {
        std::fs::copy(format!("{folder}/sample/{file}"), server.workspace().join(file)).unwrap();
    }
    let input: Value =
        serde_json::from_str(&std::fs::read_to_string(format!("{folder}/input.json")).unwrap()).unwrap();
    let config = json!({ "workspace": server.workspace(), "model": "rehearsal" });
    let body = json!({ "workflow": "research", "input": input, "config": config });
    let run = server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned();
    let asked = server.wait_one(&run).await;
    let subtasks = asked["payload"]["plan"]["subtasks"].as_array().unwrap();
    assert_eq!(subtasks[2]["depends_on"], json!(["look", "analyse"]), "the reviewer's word was heard");
    server.choose(&asked, "approve").await;
    for _ in 0..3 {
        let call = server.wait_one(&run).await;
        assert_eq!(call["kind"], "tool_approval");
        server.choose(&call, "approve").await;
    }
    let ended = server.wait_status(&run, &["completed"]).await;
    assert_eq!(ended["end_reason"], "done");
    let report = std::fs::read_to_string(server.workspace().join("report.md")).unwrap();
    for line in ["Hollow,2025-10,95", "Ridge,2025-12,140", "Weir,2025-07,83"] {
        assert!(report.contains(line), "{report}");
    }
}

/// The shipped workflows run with a scripted model. A person approves the plans, which are then carried out on real
/// files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ships_plays_with_a_model() {
    let finish = || one(("finish", json!({ "summary": "Done." })));
    let make = || [one(write("sum.py", "print(6 * 7)")), one(command("python3 sum.py")), finish()];
    let model = ScriptedModel::start().await;
    let look = json!({ "id": "look", "description": "look", "agent": "researcher" });
    let script = json!({ "id": "script", "description": "sum", "agent": "engineer", "depends_on": ["look"] });
    let plan = proposes(&[look, script]);
    model.script("planner", [plan.clone(), plan]);
    model.script("reviewer", [Scripted::text("Nothing is missing.")]);
    model.script("researcher", [Scripted::text("There are two numbers.")]);
    model.script("engineer", make());
    let todo = json!({ "subtasks": [{ "id": "mend", "description": "mend", "agent": "coder" }] });
    model.script("orchestrator", [one(("create_plan", todo))]);
    model.script("coder", make());
    let server = TestServer::setup().model(&model).start().await;
    for (workflow, worker) in [("research", "engineer"), ("codelab", "coder")] {
        let run = server.start_run(workflow, "What is the sum?").await;
        // Writing the script needs an approval. Running it needs none, because its trial shows no change.
        for kind in ["plan_approval", "tool_approval"] {
            let asked = server.wait_one(&run).await;
            assert_eq!(asked["kind"], kind, "{workflow}");
            server.choose(&asked, "approve").await;
        }
        let ended = server.wait_status(&run, &["completed"]).await;
        assert_eq!((&ended["end_reason"], &ended["result"]["text"]), (&json!("done"), &json!("Done.")));
        let heard = model.requests_of(worker).pop().expect("it was asked").texts().join("\n");
        assert!(heard.contains("42"), "{workflow}: {heard}");
    }
}

/// A person is warned if a request for another plan would end the run, because the workflow allows no more plans. The
/// API, the terminal and the page without scripts show the warning for the last plan only.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_request_for_a_plan_beyond_the_last_is_warned_of() {
    const WARNING: &str = "ends the run as failed, because the workflow allows no further plan";
    let workflow = PLANNED.replace("kind: planning,", "kind: planning, iterations: 2,");
    let drafts = [proposes(&[subtask("a", &[])]), proposes(&[subtask("b", &[])])];
    let (_model, server, run) = proposed(&workflow, &drafts).await;
    for is_last in [false, true] {
        let asked = server.wait_one(&run).await;
        let id = asked["id"].as_str().unwrap();
        let options = asked["options"].as_array().unwrap();
        let revise = options.iter().find(|option| option["id"] == "revise").unwrap();
        let work = if is_last { "ended" } else { "repeats" };
        assert_eq!((&revise["work"], revise["asks_again"] == true), (&json!(work), is_last), "{revise}");
        let shown = server.client_command().args(["show", id]).output().unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        let link = server.post(&format!("/v1/interrupts/{id}/links"), &json!({})).await.ok();
        let link = link["url"].as_str().unwrap().strip_prefix(server.base()).unwrap().to_owned();
        let page = server.request(Method::GET, &link).send().await.unwrap().text().await.unwrap();
        for text in [&words, &page] {
            assert_eq!(text.contains(WARNING), is_last, "{text}");
            // Every card warns of the rejection of a plan.
            let rejection = text.replace(WARNING, "");
            assert!(rejection.contains("ends the run as failed"), "{text}");
        }
        server.decide(&asked, &json!({ "option": "revise", "text": "another one" })).await.ok();
    }
    assert_eq!(server.wait_status(&run, &["failed"]).await["end_reason"], "plan_iterations");
}
