//! Modes other than planning and control: ideas, a single agent, and a list of phases with a checkpoint.

use holdshort_testkit::model::Scripted;
use serde_json::{Value, json};

use super::{Mars, check_invariants, error_summary, first, options, plan, planned};

/// Ideas are generated and judged. The task needs no directory, because none of its phases uses files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ideas_are_had_and_judged() {
    let (model, server) = planned(&[]).await;
    model.script("idea_maker", [Scripted::text("A kite."), Scripted::text("A better kite.")]);
    model.script("idea_hater", [Scripted::text("It needs wind.")]);
    let mut mars = Mars::connect(&server, "t1").await;
    mars.say(&json!({"task": "What to build?", "config": {"mode": "idea-generation", "n_ideas": 1}})).await;
    let ended = mars.wait("workflow_completed").await;
    assert_eq!(ended["result"]["text"], "A better kite.");
    let said: Vec<&Value> = mars
        .frames
        .iter()
        .filter(|frame| frame["event_type"] == "agent_message")
        .map(|frame| &frame["data"]["agent"])
        .collect();
    assert_eq!(said, ["idea_maker", "idea_hater", "idea_maker"]);
    check_invariants(&server, &mars).await;
}

/// A checkpoint between plan and work has the plan in its context. The note of its approval reaches the engineer (A12).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_stands_between_two_phases() {
    let (model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let config = |shown: bool| {
        let checkpoint =
            json!({"checkpoint_type": "after_planning", "show_plan": shown, "show_context": shown});
        json!({"phases": [
            {"type": "planning", "config": {"n_plan_reviews": 0}},
            {"type": "hitl_checkpoint", "config": checkpoint},
            {"type": "control"},
        ]})
    };
    let mut mars = Mars::start(&server, "t1", "Build it.", config(true)).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(
        (options(&asked), &asked["action"], &asked["checkpoint_type"]),
        (vec!["approve", "modify", "reject"], &json!("checkpoint"), &json!("after_planning"))
    );
    assert_eq!(asked["context"]["plan"][0]["sub_task"], "build");
    assert!(asked["context"]["results"].is_object());
    mars.resolve(&asked, "approve", json!({"feedback": "mind the units"})).await;
    mars.wait("workflow_completed").await;
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("mind the units"));
    check_invariants(&server, &mars).await;

    let mut mars = Mars::start(&server, "t2", "Build it.", config(false)).await;
    let asked = mars.wait_for_request().await;
    assert!(asked["context"].get("plan").is_none() && asked["context"].get("results").is_none(), "{asked}");
    mars.resolve(&asked, "reject", json!({"feedback": "no"})).await;
    assert_eq!(mars.wait("workflow_failed").await["reason"], "rejected");
}

/// Changes that a person makes at a checkpoint reach the engineer. A checkpoint that requires no approval is only
/// recorded (A12, E8).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_checkpoint_takes_changes_or_asks_nobody() {
    let (model, server) = planned(&[]).await;
    let config = |asks: bool| json!({"phases": [{"type": "hitl_checkpoint", "config": {"require_approval": asks}}, {"type": "one_shot"}]});
    let mut mars = Mars::start(&server, "t1", "Build it.", config(true)).await;
    let asked = mars.wait_for_request().await;
    let two = json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "modify",
                     "modifications": {"plan": ["x"], "steps": ["y"]}});
    assert_eq!(error_summary(&mars.refused(&two).await), ("invalid_request", "/modifications/steps"));
    let received = mars.resolve(&asked, "modify", json!({"modifications": {"units": "millimetres"}})).await;
    assert_eq!((&received["approved"], &received["approval_status"]), (&json!(true), &json!("modified")));
    mars.wait("workflow_completed").await;
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("millimetres"));
    check_invariants(&server, &mars).await;

    let mut mars = Mars::start(&server, "t2", "Build it.", config(false)).await;
    let received = mars.wait("approval_received").await;
    assert_eq!(
        mars.types(),
        ["status", "workflow_started", "workflow_state_changed", "phase_change", "approval_received"],
        "nothing to answer, and nothing waits"
    );
    assert_eq!(
        (&received["approved"], &received["approval_status"], &received["by"]),
        (&json!(true), &json!("auto_approved"), &json!("engine"))
    );
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
    // A client that reconnects at any place receives equal frames.
    let told = mars.journal_frames();
    for (n, frame) in told.iter().enumerate() {
        let mut again = Mars::connect(&server, "t2").await;
        again.say(&json!({"type": "request_state", "since": frame["id"]})).await;
        for frame in &told[n + 1..] {
            while again.next().await["id"].is_null() {}
            assert_eq!(again.journal_frames().last(), Some(frame));
        }
    }
}

/// If the client declares that nobody can decide, checkpoints are approved by themselves, but no other request is (E8,
/// case 45).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_channel_a_checkpoint_approves_itself() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let phases = json!([
        {"type": "hitl_checkpoint"},
        {"type": "hitl_planning", "config": {"n_plan_reviews": 0}},
        {"type": "control"},
    ]);
    let mut mars =
        Mars::start(&server, "t1", "Build it.", json!({"unattended": true, "phases": phases})).await;
    let received = mars.wait("approval_received").await;
    assert_eq!(
        (&received["checkpoint_type"], &received["approval_status"], &received["by"]),
        (&json!("custom"), &json!("auto_approved"), &json!("engine"))
    );
    assert!(!mars.types().contains(&"approval_requested"), "{:?}", mars.types());
    let plan = mars.wait_for_request().await;
    assert_eq!(plan["position"], "after_planning");
    let open = server.get("/v1/interrupts?status=open").await.ok();
    assert_eq!(open["items"][0]["id"], plan["approval_id"], "parked and listed");
    mars.resolve(&plan, "reject", json!({})).await;
    check_invariants(&server, &mars).await;
}

/// If a list of phases has two checkpoints of the same type, both requests report that type. A list of phases does not
/// report the mode `one-shot`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn checkpoints_are_what_they_are_called() {
    let (_model, server) = planned(&[]).await;
    let look = json!({"type": "hitl_checkpoint", "config": {"checkpoint_type": "before_execution"}});
    let mut mars = Mars::connect(&server, "t1").await;
    mars.say(&json!({"task": "Look.", "config": {"phases": [look, look]}})).await;
    assert_eq!(mars.wait("workflow_started").await["mode"], "phases");
    for _ in 0..2 {
        let asked = mars.wait_for_request().await;
        assert_eq!(asked["checkpoint_type"], "before_execution");
        mars.resolve(&asked, "approve", json!({})).await;
    }
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// If the plan needs no approval, it is carried out after a fixed number of iterations (A13).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_settles_after_its_iterations() {
    let (_model, server) = planned(&[plan(&[("one", "engineer")]), plan(&[("two", "engineer")])]).await;
    let config = json!({
        "mode": "hitl-interactive", "hitlVariant": "planning_only", "n_plan_reviews": 0,
        "require_explicit_approval": false, "auto_approve_after_iterations": 1,
    });
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "revise", json!({"feedback": "another"})).await;
    let ended = mars.wait("workflow_completed").await;
    assert_eq!(ended["final_plan"]["sub_tasks"][0]["sub_task"], "two");
    check_invariants(&server, &mars).await;
}

/// An agent asks a question during its work (E24). The researcher has no tool that writes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_agent_asks_and_goes_on() {
    let (model, server) = planned(&[]).await;
    model.script(
        "researcher",
        [Scripted::call("ask_human", json!({"question": "Which year?"})), Scripted::text("It rained.")],
    );
    let mut mars = Mars::connect(&server, "t1").await;
    mars.say(&first(&server, "Look at it.", json!({"mode": "one_shot", "agent": "researcher"}))).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(
        (options(&asked), &asked["checkpoint_type"]),
        (vec!["submit", "skip", "cancel"], &json!("clarification"))
    );
    assert!(asked["expires_at"].is_string(), "half an hour");
    let received = mars.resolve(&asked, "submit", json!({"feedback": "1999"})).await;
    assert_eq!((&received["approved"], &received["approval_status"]), (&json!(false), &json!("answered")));
    mars.wait("workflow_completed").await;
    assert!(model.requests_of("researcher")[1].texts().join("\n").contains("1999"));
    assert!(!model.requests_of("researcher")[0].tools().contains(&"write_file".to_owned()));
    check_invariants(&server, &mars).await;
}
