//! Unsuitable inputs of a copilot in this protocol: tasks, options, edits, handoffs, chains, models that never finish,
//! and people who write at the same time. `copilot_inputs.rs` and `swarm.rs` test the same inputs with a native
//! copilot.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::copilot::{by_rules, server};
use super::{Mars, check_invariants, error_summary};
use crate::play::{count, done, one};

/// Returns a config without questions before and after the work. `more` is added to its keys.
fn at_once(more: &Value) -> Value {
    let mut config = by_rules(&json!({"intelligentRouting": "minimal", "approval_mode": "none"}));
    config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    config
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_task_and_one_in_another_script_are_told_whole() {
    let answers = || vec![done().repeat()];
    let (model, server) = server(&[("engineer", answers()), ("researcher", answers())]).await;
    let long = format!("explain this: {} the end", "word ".repeat(20_000));
    assert!(long.len() > 100_000);
    let tasks = [&*long, "名簿を長さ順に並べてください。", "رتّب قائمة الأسماء حسب الطول", "Отсортируй список"];
    for (n, task) in tasks.into_iter().enumerate() {
        let mut mars = Mars::start(&server, &format!("t{n}"), task, at_once(&json!({}))).await;
        assert_eq!(mars.wait("workflow_started").await["task_description"], *task);
        mars.wait("workflow_completed").await;
        assert!(model.requests()[n].texts().join("\n").contains(task), "{n}");
        check_invariants(&server, &mars).await;
    }
    for task in ["", " \n\t "] {
        let mut mars = Mars::connect(&server, "empty").await;
        let refused = mars.refused(&super::first(&server, task, at_once(&json!({})))).await;
        assert_eq!(error_summary(&refused), ("invalid_request", "/task"), "{refused}");
    }
    assert_eq!(model.requests().len(), tasks.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_option_that_is_none_of_three_chooses_nothing() {
    let (model, server) = server(&[("engineer", vec![done().repeat()])]).await;
    let mut mars = Mars::start(&server, "t1", &["word"; 61].join(" "), by_rules(&json!({}))).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(super::options(&asked), ["option_1", "option_2", "option_3"]);
    for said in ["option_9", "option_0", "option_", "4", "all of them", ""] {
        let frame =
            json!({"type": "resolve_approval", "approval_id": asked["approval_id"], "resolution": said});
        let refused = mars.refused(&frame).await;
        assert_eq!(error_summary(&refused), ("invalid_request", "/resolution"), "{said}: {refused}");
        assert_eq!(mars.wait("approval_requested").await, asked, "{said}");
    }
    assert!(model.requests().is_empty());
    mars.resolve(&asked, "Option 3", json!({})).await;
    let after = mars.wait_for_request().await;
    mars.resolve(&after, "continue", json!({})).await;
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

/// An edit changes the arguments of a call, but never its tool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_makes_no_other_tool_of_a_command() {
    let (_model, server) = server(&[("engineer", vec![one(count("made")), done()])]).await;
    let config = at_once(&json!({"toolApproval": "prompt"}));
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config).await;
    let asked = mars.wait_for_request().await;
    let write = json!({"path": "a.txt", "content": "a"});
    let edits = [
        json!({"tool": "write_file", "arguments": write}),
        json!({"tool_name": "write_file", "arguments": write}),
        json!({"tool": "write_file", "command": "echo a"}),
        json!({"name": "write_file", "command": "echo a"}),
        json!({"arguments": write}),
        write,
        json!({"arguments": {"command": "echo a", "tool": "write_file"}}),
        json!(["echo a"]),
        json!("echo a"),
    ];
    for edit in edits {
        let frame = json!({"type": "resolve_approval", "approval_id": asked["approval_id"],
                           "resolution": "edit", "modifications": edit});
        let refused = mars.refused(&frame).await;
        assert!(error_summary(&refused).1.starts_with("/modifications"), "{edit}: {refused}");
        let again = mars.wait("approval_requested").await;
        assert_eq!(again["approval_id"], asked["approval_id"], "{edit}");
    }
    mars.resolve(&asked, "deny", json!({})).await;
    mars.wait("workflow_completed").await;
    assert!(!server.workspace().join("a.txt").exists() && server.lines("count.txt") == 0);
    check_invariants(&server, &mars).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hand_off_to_nobody_or_to_itself_is_an_error_that_the_model_sees() {
    let tools = ["handoff_to_nobody", "handoff_to_engineer", "handoff_to_", "handoff_to_copilot_control"];
    let (model, server) = server(&[]).await;
    for (n, tool) in tools.into_iter().enumerate() {
        model.script("engineer", [one((tool, json!({"message": "yours"}))), done()]);
        let config = at_once(&json!({"use_ag2_handoffs": true, "ag2_mandatory_checkpoints": []}));
        let task = format!("t{n}");
        let mut mars = Mars::start(&server, &task, "count the files of the folder", config).await;
        mars.wait("workflow_completed").await;
        let run = mars.run();
        let finished = server.events_of(&run, "tool_finished").await;
        assert_eq!((finished.len(), &finished[0]["data"]["code"]), (1, &json!("unknown_tool")), "{tool}");
        assert!(server.events_of(&run, "handed_over").await.is_empty(), "{tool}");
        let told = model.requests().pop().unwrap().texts().join("\n");
        assert!(told.contains(&format!("the tool `{tool}` is not available")), "{told}");
        assert!(told.contains("handoff_to_researcher"), "it is told whom there is: {told}");
        check_invariants(&server, &mars).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn those_who_hand_to_and_fro_end_at_a_limit() {
    let over = |tool: &'static str| one((tool, json!({"message": "yours"}))).repeat();
    let (model, server) = server(&[
        ("engineer", vec![over("handoff_to_researcher")]),
        ("researcher", vec![over("handoff_to_engineer")]),
    ])
    .await;
    let config =
        at_once(&json!({"use_ag2_handoffs": true, "ag2_mandatory_checkpoints": [], "max_rounds": 6}));
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(asked["checkpoint_type"], "max_rounds", "{asked}");
    let handed = server.events_of(&mars.run(), "handed_over").await.len();
    assert_eq!((model.requests().len(), handed), (6, 6));
    mars.resolve(&asked, "finish", json!({})).await;
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_chain_of_phases_that_are_not_there_begins_nothing() {
    let chains = [
        json!({"phases": [{"phase": "one_shot", "task": "a"}, {"phase": "cooking", "task": "b"}]}),
        json!({"phases": [{"phase": "chain_phases", "phases": [{"phase": "one_shot", "task": "a"}]}]}),
        json!({"phases": [{"phase": "one_shot", "task": "$previous"}]}),
        json!({"phases": []}),
    ];
    let (model, server) = server(&[]).await;
    for (n, chain) in chains.into_iter().enumerate() {
        model.script("engineer", [one(("chain_phases", chain.clone())), done()]);
        let task = format!("t{n}");
        let mut mars =
            Mars::start(&server, &task, "count the files of the folder", at_once(&json!({}))).await;
        mars.wait("workflow_completed").await;
        let run = mars.run();
        let finished = server.events_of(&run, "tool_finished").await;
        let codes: Vec<&Value> = finished.iter().map(|event| &event["data"]["code"]).collect();
        assert_eq!(codes, ["invalid_arguments"], "{chain}");
        assert!(server.events_of(&run, "phase_called").await.is_empty(), "{chain}");
        assert_eq!(model.requests().len(), 2 * (n + 1), "the model hears it, and goes on");
        check_invariants(&server, &mars).await;
    }
}

/// A model that never finishes reaches its limit again after each new budget, until the person refuses a new budget.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_that_never_finishes_stops_at_its_limit_each_time() {
    let (model, server) = server(&[]).await;
    let calls: Vec<Scripted> = ["a", "b", "c", "d", "e", "f", "g"].map(|what| one(count(what))).to_vec();
    model.script("engineer", calls);
    let config = at_once(&json!({"max_rounds": 2}));
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config).await;
    for budget in 1..=3 {
        let asked = mars.wait_for_request().await;
        assert_eq!(asked["checkpoint_type"], "max_rounds");
        assert_eq!((model.requests().len(), server.lines("count.txt")), (2 * budget, 2 * budget));
        let said = if budget < 3 { "continue" } else { "cancel" };
        mars.resolve(&asked, said, json!({})).await;
    }
    mars.wait("workflow_cancelled").await;
    assert_eq!(model.requests().len(), 6);
    check_invariants(&server, &mars).await;
}

/// Two people start tasks in one session at the same time. Both tasks run, each person receives the frames of their own
/// task, and the session contains both tasks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_people_speak_in_one_session_at_once() {
    let model = ScriptedModel::start().await;
    let boat = |colour: &str| Scripted::text(format!("The boat is {colour}."));
    model.script("engineer", [boat("blue")]);
    let server = TestServer::setup().model(&model).start().await;
    let mut mars = Mars::start(&server, "m0", "paint the boat of the sample", at_once(&json!({}))).await;
    let session = mars.wait("result").await["session_id"].clone();
    mars.wait("workflow_completed").await;
    // Both tasks are running before the first task ends.
    let held = |colour: &str| Scripted::Hang(Box::new(boat(colour)));
    model.when("engineer", [("in red", held("red")), ("in green", held("green"))]);
    let config = at_once(&json!({ "copilotSessionId": session }));
    let (mut one, mut other) = tokio::join!(
        Mars::start(&server, "m1", "paint it in red", config.clone()),
        Mars::start(&server, "m2", "paint it in green", config.clone()),
    );
    model.wait_for_requests(3).await;
    model.release();
    tokio::join!(one.wait("workflow_completed"), other.wait("workflow_completed"));
    assert_ne!(one.run(), other.run());
    for (mars, colour, not) in [(&one, "red", "green"), (&other, "green", "red")] {
        let told = mars.frames.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        assert!(told.contains(&format!("The boat is {colour}.")), "{told}");
        assert!(!told.contains(&format!("The boat is {not}.")), "{told}");
        check_invariants(&server, mars).await;
    }
    let path = format!("/edges/mars/api/sessions/{}", session.as_str().unwrap());
    let said = server.get(&path).await.ok()["conversation_history"].to_string();
    for part in ["paint it in red", "paint it in green", "The boat is red.", "The boat is green."] {
        assert_eq!(said.matches(part).count(), 1, "{part}: {said}");
    }
}
