//! Plans in this protocol: cases 01 to 05.

use serde_json::{Value, json};

use super::{Mars, check_invariants, error_summary, options, plan, planned};

fn three() -> [(&'static str, &'static str); 3] {
    [("read", "researcher"), ("build", "engineer"), ("test", "engineer")]
}

fn config() -> Value {
    json!({"mode": "hitl-interactive", "hitlVariant": "planning_only", "n_plan_reviews": 0})
}

/// The client receives the plan, no step runs before the approval, and the note of the approval reaches the engineer
/// (cases 01 and 02).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_shown_and_approved_with_a_note() {
    // The planner replies twice, because it replies again after its reviewer.
    let (model, server) = planned(&[plan(&three()), plan(&three())]).await;
    let config = json!({
        "mode": "hitl-interactive", "hitlVariant": "planning_only", "n_plan_reviews": 1,
        "use_ag2_handoffs": true, "ag2_mandatory_checkpoints": ["after_planning"],
    });
    let mut mars = Mars::start(&server, "t1", "Build it.", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(options(&asked), ["approve", "modify", "revise", "reject"]);
    assert_eq!(
        [&asked["action"], &asked["checkpoint_type"], &asked["position"]],
        [&json!("plan_approval"), &json!("after_planning"), &json!("after_planning")]
    );
    let steps = asked["context"]["plan"].as_array().unwrap();
    assert_eq!(
        (steps.len(), &steps[0]["sub_task"], &steps[0]["sub_task_agent"], &steps[0]["bullet_points"]),
        (3, &json!("read"), &json!("researcher"), &json!(["carefully"]))
    );
    assert_eq!(asked["context"]["reasons"], json!(["a person decides on every plan"]));
    assert_eq!((server.lines("count.txt"), model.requests_of("engineer").len()), (0, 0));
    // Until the approval, the graph has the steps of the planning.
    assert!(mars.frames.iter().all(|frame| frame["data"]["plan"].is_null()));
    assert!(asked["expires_at"].is_string(), "an hour");

    let received = mars.resolve(&asked, "approved", json!({"feedback": "mind the units"})).await;
    assert_eq!(
        (&received["approved"], &received["resolution"], &received["approval_status"], &received["feedback"]),
        (&json!(true), &json!("approve"), &json!("approved"), &json!("mind the units"))
    );
    let graph = mars.wait("dag_created").await;
    assert_eq!(graph["nodes"].as_array().map(Vec::len), Some(3));
    let ended = mars.wait("workflow_completed").await;
    assert_eq!((&ended["reason"], server.lines("count.txt")), (&json!("done"), 2));
    assert_eq!(ended["final_plan"]["sub_tasks"].as_array().map(Vec::len), Some(3));
    assert_eq!(ended["step_results"].as_array().map(Vec::len), Some(3));
    assert_eq!(ended["human_feedback"][0]["feedback"], "mind the units");
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("mind the units"));

    let types = mars.types();
    for wanted in [
        "status",
        "workflow_started",
        "workflow_state_changed",
        "step_started",
        "step_completed",
        "agent_message",
        "agent_tool_call",
        "dag_node_status_changed",
        "cost_update",
    ] {
        assert!(types.contains(&wanted), "{wanted} in {types:?}");
    }
    let states: Vec<&Value> = mars
        .frames
        .iter()
        .filter(|frame| frame["event_type"] == "workflow_state_changed")
        .map(|frame| &frame["data"]["status"])
        .collect();
    assert_eq!(states, ["planning", "waiting_approval", "planning", "executing", "completed"]);
    // All frames have the same fields.
    for frame in &mars.frames {
        assert!(frame["timestamp"].as_str().is_some_and(|at| at.ends_with('Z')), "{frame}");
        assert!(frame["data"].is_object() && frame["run_id"] == mars.run(), "{frame}");
    }
    check_invariants(&server, &mars).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rejected_plan_fails_the_run() {
    let (_model, server) = planned(&[plan(&three())]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config()).await;
    let asked = mars.wait_for_request().await;
    let received = mars.resolve(&asked, "reject", json!({"user_feedback": "wrong"})).await;
    assert_eq!((&received["approved"], &received["outcome"]), (&json!(false), &json!("rejected")));
    let failed = mars.wait("workflow_failed").await;
    assert_eq!(failed["reason"], "rejected");
    assert!(failed["error"].as_str().unwrap().contains("wrong"), "{failed}");
    assert_eq!(server.lines("count.txt"), 0);
    check_invariants(&server, &mars).await;
}

/// Each revision brings a new plan and lists all previous feedback, until the maximum number of iterations is reached
/// (case 04, A13).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_revised_until_there_is_none_left() {
    let (model, server) = planned(&[plan(&three()), plan(&three()[..2]), plan(&three()[..1])]).await;
    let mut settings = config();
    settings["max_human_iterations"] = json!(2);
    let mut mars = Mars::start(&server, "t1", "Build it.", settings).await;
    let first = mars.wait_for_request().await;
    let mute = mars
        .refused(
            &json!({"type": "resolve_approval", "approval_id": first["approval_id"], "resolution": "revise"}),
        )
        .await;
    assert_eq!(error_summary(&mute), ("invalid_request", "/feedback"), "{mute}");
    let received = mars.resolve(&first, "revise", json!({"feedback": "add tests"})).await;
    assert_eq!((&received["approved"], &received["approval_status"]), (&json!(false), &json!("answered")));
    let second = mars.wait_for_request().await;
    assert_ne!(first["approval_id"], second["approval_id"]);
    assert_eq!((&second["context"]["iteration"], &second["context"]["iterations"]), (&json!(2), &json!(2)));
    assert_eq!(second["context"]["plan"].as_array().map(Vec::len), Some(2));
    assert_eq!(second["context"]["previous_feedback"][0]["feedback"], "add tests");
    assert!(model.requests_of("planner")[1].texts().join("\n").contains("add tests"));
    let again = mars.refused(&json!({"type": "resolve_approval", "approval_id": first["approval_id"], "resolution": "approve"})).await;
    assert_eq!(
        (&again["error_type"], &again["resolution"]["option"]),
        (&json!("already_resolved"), &json!("revise"))
    );
    mars.resolve(&second, "revise", json!({"feedback": "more"})).await;
    assert_eq!(mars.wait("workflow_failed").await["reason"], "plan_iterations");
    check_invariants(&server, &mars).await;
}

/// A person can replace a plan with a JSON object or with JSON text. If the new plan is invalid, the request stays open
/// (case 05).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_replaced_by_one_that_is_a_plan() {
    let (_model, server) = planned(&[plan(&three())]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", config()).await;
    let asked = mars.wait_for_request().await;
    let modify = |modifications: Value| {
        json!({"type": "approval_response", "approval_id": asked["approval_id"], "resolution": "modify",
               "modifications": modifications})
    };
    let step = |agent: &str| json!({"sub_task": "x", "sub_task_agent": agent, "bullet_points": []});
    let thousand: Vec<Value> = (0..1_000).map(|_| step("engineer")).collect();
    let table = [
        (json!({"plan": {"sub_tasks": []}}), "/modifications/plan/sub_tasks"),
        (json!({"plan": [step("nobody")]}), "/modifications/plan/0/sub_task_agent"),
        (json!({"plan": {"sub_tasks": thousand}}), "/modifications/plan/sub_tasks"),
        (json!({"plan": 5}), "/modifications"),
        (json!({"plan": ["x"], "note": "careful"}), "/modifications/note"),
        (json!({"plan": {"sub_tasks": ["x"]}, "sub_tasks": ["y"]}), "/modifications/sub_tasks"),
        (json!({"plan": {"sub_tasks": ["x"], "steps": ["y"]}}), "/modifications/plan/steps"),
        (json!({"plan": {"sub_tasks": ["x"], "a/b": 1}}), "/modifications/plan/a~1b"),
        (json!({"plan": [{"sub_task": "x", "zzz": 1}]}), "/modifications/plan/0/zzz"),
        (json!([{"sub_task": "x", "bullet_points": [5]}]), "/modifications/0/bullet_points/0"),
        (
            json!([{"sub_task": "x", "agent": "engineer", "sub_task_agent": "researcher"}]),
            "/modifications/0/sub_task_agent",
        ),
        (json!([{"sub_task": 5}]), "/modifications/0/sub_task"),
        (json!(json!({"plan": [{"sub_task": "x", "zzz": 1}]}).to_string()), "/modifications/plan/0/zzz"),
        (json!(json!({"plan": [step("nobody")]}).to_string()), "/modifications/plan/0/sub_task_agent"),
        (json!("{not json"), "/modifications"),
        (json!(null), "/modifications"),
    ];
    for (modifications, pointer) in table {
        let refused = mars.refused(&modify(modifications.clone())).await;
        let shown: String = modifications.to_string().chars().take(80).collect();
        assert_eq!(error_summary(&refused), ("invalid_request", pointer), "{shown}: {refused}");
    }
    let text = json!({"plan": {"sub_tasks": [step("engineer"), step("engineer")]}}).to_string();
    mars.say(&modify(json!(text))).await;
    let received = mars.wait("approval_received").await;
    assert_eq!((&received["approved"], &received["approval_status"]), (&json!(true), &json!("modified")));
    mars.wait("workflow_completed").await;
    assert_eq!(server.lines("count.txt"), 2, "exactly those two");
}

/// A planner that proposes far too many steps receives an error. Finally the run fails, and states the reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_of_a_thousand_steps_is_none() {
    let many: Vec<(String, &str)> = (0..1_000).map(|n| (format!("step {n}"), "engineer")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(step, agent)| (step.as_str(), *agent)).collect();
    let (_model, server) = planned(&[plan(&many), plan(&many), plan(&many)]).await;
    let mut mars = Mars::start(&server, "t1", "Build it.", json!({"mode": "planning-control"})).await;
    let failed = mars.wait("workflow_failed").await;
    assert_eq!(failed["reason"], "no_plan");
    assert!(failed["error"].as_str().unwrap().contains("more than 3 subtasks"), "{failed}");
    let told = mars.frames.iter().filter(|frame| frame["data"]["error_type"] == "plan_unusable").count();
    assert_eq!((told, server.lines("count.txt")), (3, 0));
    check_invariants(&server, &mars).await;
}
