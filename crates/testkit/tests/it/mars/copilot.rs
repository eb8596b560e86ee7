//! The copilot in the MARS protocol: cases 12 to 16 and 19 to 23 (contracts A17 to A26).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use super::{Mars, check_invariants, options};
use crate::play::{command, count, done, one};

/// Returns the config of a copilot whose tasks are routed by rules instead of a router. `more` is added to its keys.
pub(super) fn by_rules(more: &Value) -> Value {
    let mut config = json!({ "mode": "copilot", "use_copilot_control": false, "ask_satisfaction": false });
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

pub(super) async fn server(scripts: &[(&str, Vec<Scripted>)]) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    for (agent, script) in scripts {
        model.script(agent, script.clone());
    }
    let server = TestServer::setup().model(&model).start().await;
    (model, server)
}

pub(super) fn said_to(model: &ScriptedModel, agent: &str, n: usize) -> String {
    model.requests_of(agent)[n].texts().join("\n")
}

/// A vague task is clarified before any agent works (cases 12 and 13).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_vague_task_is_clarified_before_anybody_works() {
    let (model, server) = server(&[("engineer", vec![one(count("sort")), done()])]).await;
    let mut mars = Mars::start(&server, "t1", "fix it", by_rules(&json!({}))).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(
        (asked["checkpoint_type"].as_str(), options(&asked)),
        (Some("clarification"), vec!["submit", "skip", "cancel"])
    );
    assert_eq!(asked["context"]["requires_text_input"], true);
    assert!(model.requests().is_empty());
    // The request requires a text. A decision without a text is refused, and the request stays open.
    mars.refused(
        &json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "submit"}),
    )
    .await;
    mars.resolve(&asked, "submit", json!({"feedback": "sort in util.py"})).await;
    mars.wait("workflow_completed").await;
    assert!(said_to(&model, "engineer", 0).contains("sort in util.py"));
    assert_eq!(
        (
            mars.journal_frames().iter().filter(|f| f["event_type"] == "approval_requested").count(),
            server.lines("count.txt")
        ),
        (1, 1)
    );
    check_invariants(&server, &mars).await;
}

/// Several questions are numbered lines. The client shows a backslash as a backslash, so no line break is escaped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn several_questions_are_numbered() {
    let (_model, server) = server(&[]).await;
    let mut mars = Mars::start(&server, "t1", "write python script", by_rules(&json!({}))).await;
    let asked = mars.wait_for_request().await;
    let shown = "1. What should this script do?\n2. What functionality do you need?";
    assert_eq!((&asked["message"], &asked["description"]), (&json!(shown), &json!(shown)));
    let questions = ["What should this script do?", "What functionality do you need?"];
    assert_eq!(asked["context"]["questions"], json!(questions));

    // A message with several lines that an agent gives a checkpoint.
    let message = "Delete the old data?\nIt has 3 files.";
    let call = ("invoke_hitl_checkpoint", json!({"checkpoint_type": "confirm", "message": message}));
    let (_model, server) = self::server(&[("engineer", vec![one(call)])]).await;
    let config = by_rules(&json!({"intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t1", "clean the data folder", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["message"], message);
}

/// A person can skip a clarification, and minimal routing never asks for one (case 14).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clarification_is_skipped_or_never_asked() {
    let (model, server) = server(&[("engineer", vec![done().repeat()])]).await;
    let mut mars = Mars::start(&server, "t1", "fix it", by_rules(&json!({}))).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "skip", json!({})).await;
    mars.wait("workflow_completed").await;
    assert!(said_to(&model, "engineer", 0).contains("best guess"));
    check_invariants(&server, &mars).await;
    let minimal = by_rules(&json!({"intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t2", "fix it", minimal).await;
    mars.wait("workflow_completed").await;
    assert!(!mars.types().contains(&"approval_requested"));
}

/// If the router fails, rules route the task (case 15).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_its_router_a_task_is_routed_by_rules() {
    let (_model, server) = server(&[
        ("copilot_control", vec![Scripted::status(400).repeat()]),
        ("engineer", vec![done().repeat()]),
    ])
    .await;
    let config = || json!({ "mode": "copilot", "ask_satisfaction": false });
    let mut mars = Mars::start(&server, "t1", "write code", config()).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["checkpoint_type"], "clarification");
    mars.say(&json!({"type": "cancel"})).await;
    mars.wait("workflow_cancelled").await;

    let long = ["word"; 61].join(" ");
    let mut mars = Mars::start(&server, "t2", &long, config()).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["checkpoint_type"], "proposal");
    // The copilot's view sends no words with a button, so `custom` is only listed in the details.
    assert_eq!(options(&asked), ["option_1", "option_2", "option_3"]);
    assert_eq!(asked["option_details"][3]["id"], "custom");
    assert_eq!(asked["context"]["proposals"].as_array().unwrap().len(), 3);
    assert!(asked["description"].as_str().unwrap().contains("Planned & Thorough"));
    mars.refused(
        &json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "option_9"}),
    )
    .await;
    mars.resolve(&asked, "option_2", json!({})).await;
    // The task is not simple, so the result of the round is reviewed.
    let after = mars.wait_for_request().await;
    assert_eq!(
        (after["checkpoint_type"].as_str(), options(&after)),
        (Some("after_step"), vec!["continue", "redo", "abort"])
    );
    mars.resolve(&after, "continue", json!({})).await;
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// A grant for the session covers all commands of a category. A command of a different category still asks (case 16).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_is_allowed_for_the_session() {
    let calls = vec![one(count("a")), one(command("mkdir made")), one(command("pip install x")), done()];
    let (_model, server) = server(&[("engineer", calls)]).await;
    let config = by_rules(&json!({"toolApproval": "prompt", "intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config).await;
    let first = mars.wait_for_request().await;
    assert_eq!(
        (first["checkpoint_type"].as_str(), &first["context"]["tool_category"]),
        (Some("tool_approval"), &json!("bash"))
    );
    mars.resolve(&first, "allow_session", json!({})).await;
    let other = mars.wait_for_request().await;
    assert_eq!(other["context"]["tool_category"], "install");
    assert_eq!(other["context"]["session_permissions"], json!({"bash": true}));
    assert_eq!((server.lines("count.txt"), server.workspace().join("made").is_dir()), (1, true));
    mars.resolve(&other, "deny", json!({"feedback": "not today"})).await;
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// A phase that a model calls really runs and pauses (case 19, issue 2 of the document).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_phase_that_a_model_calls_really_runs_and_pauses() {
    let call =
        ("invoke_hitl_checkpoint", json!({"checkpoint_type": "confirm", "message": "Delete the old data?"}));
    let (model, server) = server(&[("engineer", vec![one(call), done()])]).await;
    let config = by_rules(&json!({"intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t1", "clean the data folder", config).await;
    let asked = mars.wait_for_request().await;
    assert!(asked["message"].as_str().unwrap().contains("Delete the old data?"), "{asked}");
    assert_eq!(asked["position"], "confirm");
    assert_eq!(model.requests_of("engineer").len(), 1);
    mars.resolve(&asked, "approve", json!({"feedback": "but keep 2026"})).await;
    mars.wait("workflow_completed").await;
    let told = said_to(&model, "engineer", 1);
    assert!(told.contains("success") && told.contains("but keep 2026"), "{told}");
    check_invariants(&server, &mars).await;
}

/// Flow 1: a phase proposes a plan, a person decides the plan, and the plan is carried out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_and_control_are_chained() {
    let plan = json!({"subtasks": [{"id": "s1", "description": "count", "agent": "researcher"}]}).to_string();
    let chain = (
        "chain_phases",
        json!({"phases": [{"phase": "planning", "task": "count it"}, {"phase": "control"}]}),
    );
    let (model, server) = server(&[
        ("planner", vec![Scripted::text(&*plan), Scripted::text(&*plan)]),
        ("plan_reviewer", vec![Scripted::text("Fine.").repeat()]),
        ("researcher", vec![Scripted::text("Counted: 3.")]),
        ("engineer", vec![one(chain), done()]),
    ])
    .await;
    let config = by_rules(&json!({"intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["checkpoint_type"], "after_planning");
    assert!(model.requests_of("researcher").is_empty());
    mars.resolve(&asked, "approve", json!({})).await;
    mars.wait("workflow_completed").await;
    assert!(said_to(&model, "engineer", 1).contains("Counted: 3."));
    check_invariants(&server, &mars).await;
}

/// A person has a turn after every round (case 20).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_has_a_turn_after_every_round() {
    let answers = ["One.", "Two.", "Three."].map(Scripted::text).to_vec();
    let (model, server) = server(&[("engineer", answers)]).await;
    let config = by_rules(&json!({"conversational": true, "intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t1", "write a poem on boats", config).await;
    let turn = mars.wait_for_request().await;
    assert_eq!(turn["checkpoint_type"], "copilot_turn");
    assert_eq!(options(&turn), ["submit", "new_task", "continue", "done", "exit"]);
    assert_eq!(turn["context"]["result_preview"], "One.");
    mars.resolve(&turn, "submit", json!({"feedback": "new task: Y"})).await;
    let turn = mars.wait_for_request().await;
    assert!(said_to(&model, "engineer", 1).contains("New task: Y"));
    mars.resolve(&turn, "submit", json!({"feedback": "shorter"})).await;
    let turn = mars.wait_for_request().await;
    assert!(said_to(&model, "engineer", 2).contains("shorter"));
    mars.resolve(&turn, "done", json!({})).await;
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// At its limit the copilot waits for a hint, and then continues (case 21).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_its_limit_it_waits_for_a_hint_and_goes_on() {
    let calls = vec![one(count("a")), one(count("b")), one(count("c")), done()];
    let (model, server) = server(&[("engineer", calls)]).await;
    let config = by_rules(&json!({"max_rounds": 2, "intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["checkpoint_type"], "max_rounds");
    mars.resolve(&asked, "continue", json!({"feedback": "hint"})).await;
    mars.wait("workflow_completed").await;
    assert!(said_to(&model, "engineer", 2).contains("hint"));
    let again =
        json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": "finish"});
    assert_eq!(super::error_summary(&mars.refused(&again).await).0, "already_resolved");
    check_invariants(&server, &mars).await;

    // In continuous mode the budget is renewed without a question.
    let calls = vec![one(count("a")), one(count("b")), one(count("c")), done()];
    model.script("engineer", calls);
    let config = by_rules(&json!({"max_rounds": 2, "intelligentRouting": "minimal", "continuousMode": true}));
    let mut mars = Mars::start(&server, "t2", "count the files of the folder", config).await;
    mars.wait("workflow_completed").await;
    assert!(!mars.types().contains(&"approval_requested"));
}

/// A message is part of the next model request, and a pause stops new work. Neither the message nor the pause waits for
/// the running model request (case 22).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_speaks_pauses_and_cancels_while_it_works() {
    let config = || by_rules(&json!({"intelligentRouting": "minimal"}));
    let counts = Scripted::Hang(Box::new(one(count("a"))));
    let (model, server) = server(&[("engineer", vec![counts, done()])]).await;
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config()).await;
    mars.wait("step_started").await;
    model.wait_for_requests(1).await;
    // This protocol has no frame for a message, so the test uses the native API. The run of a copilot accepts messages
    // like any other run.
    let run = mars.run();
    server.post(&format!("/v1/runs/{run}/messages"), &json!({"text": "use TypeScript"})).await.ok();
    mars.say(&json!({"type": "pause"})).await;
    mars.wait("workflow_paused").await;
    model.release();
    eventually("the reply", async || {
        server.story(&run).await.contains(&"model_replied".to_owned()).then_some(())
    })
    .await;
    assert_eq!((model.requests().len(), server.lines("count.txt")), (1, 0), "nothing starts");
    mars.say(&json!({"type": "resume"})).await;
    mars.wait("workflow_completed").await;
    assert!(said_to(&model, "engineer", 1).contains("use TypeScript"));
    check_invariants(&server, &mars).await;

    let (model, server) = self::server(&[("engineer", vec![Scripted::hang()])]).await;
    let mut mars = Mars::start(&server, "t2", "count the files of the folder", config()).await;
    model.wait_for_requests(1).await;
    mars.say(&json!({"type": "cancel"})).await;
    mars.wait("workflow_cancelled").await;
    model.wait_for_hang_ups(1).await;
    check_invariants(&server, &mars).await;
}

/// A person who is not satisfied describes the wanted changes (case 23, flow 2).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_is_not_satisfied_says_what_is_to_change() {
    let answers = ["One.", "Two."].map(Scripted::text).to_vec();
    let (model, server) = server(&[("engineer", answers)]).await;
    let config = by_rules(&json!({"ask_satisfaction": true, "intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "t1", "write a poem on boats", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(
        (options(&asked), &asked["position"]),
        (vec!["needs_changes", "start_over", "satisfied"], &json!("satisfaction"))
    );
    mars.resolve(&asked, "needs_changes", json!({"feedback": "x"})).await;
    let asked = mars.wait_for_request().await;
    assert!(said_to(&model, "engineer", 1).contains('x'));
    mars.resolve(&asked, "satisfied", json!({})).await;
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// Every message is a new task in the same session, and the copilot remembers previous tasks (contract A32).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_message_goes_on_in_its_session() {
    let answers = ["The boat is blue.", "Red now."].map(Scripted::text).to_vec();
    let (model, server) = server(&[("engineer", answers)]).await;
    let config = by_rules(&json!({"intelligentRouting": "minimal"}));
    let mut mars = Mars::start(&server, "m1", "paint the boat of the sample", config.clone()).await;
    let result = mars.wait("result").await;
    mars.wait("workflow_completed").await;
    let mut next = config;
    next["copilotSessionId"] = result["session_id"].clone();
    let mut mars = Mars::start(&server, "m2", "another colour would be nicer", next).await;
    mars.wait("workflow_completed").await;
    let told = said_to(&model, "engineer", 1);
    assert!(told.contains("paint the boat") && told.contains("The boat is blue."), "{told}");
    let session = result["session_id"].as_str().unwrap();
    let shown = server.get(&format!("/edges/mars/api/sessions/{session}")).await.ok();
    assert_eq!(shown["conversation_history"].as_array().unwrap().len(), 4, "{shown}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_copilot_is_not_is_refused_by_name() {
    let (_model, server) = server(&[]).await;
    let table = [
        (json!({"available_agents": ["engineer", "hacker"]}), "/config/available_agents"),
        (json!({"available_agents": "engineer"}), "/config/available_agents"),
        (json!({"intelligentRouting": "wild"}), "/config/intelligentRouting"),
        (json!({"complexity_threshold": -1}), "/config/complexity_threshold"),
        (json!({"approvalMode": "sometimes"}), "/config/approvalMode"),
        (json!({"enable_planning": "yes"}), "/config/enable_planning"),
        (json!({"conversational": 1}), "/config/conversational"),
    ];
    for (i, (more, pointer)) in table.into_iter().enumerate() {
        let mut mars = Mars::connect(&server, &format!("b{i}")).await;
        let frame = super::first(&server, "count the files", by_rules(&more));
        let refused = mars.refused(&frame).await;
        assert_eq!(super::error_summary(&refused).1, pointer, "{refused}");
    }
}
