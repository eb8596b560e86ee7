//! A server is killed while a copilot waits for a person, in each state in which a copilot can wait (issue 16, case
//! 44). A client that reconnects receives the open request, the decision takes effect once, and nothing runs twice.

use holdshort_testkit::model::Scripted;
use serde_json::{Value, json};

use super::copilot::{by_rules, server};
use super::{Mars, first};
use crate::play::{count, done, one};

const TASK: &str = "count the files of the folder";

struct State {
    checkpoint_type: &'static str,
    task: &'static str,
    config: Value,
    scripts: Vec<(&'static str, Vec<Scripted>)>,
    decision: (&'static str, &'static str),
    /// Decision on every later request.
    then: &'static str,
    /// Number of lines that the commands of the task write in total.
    lines: usize,
}

fn states() -> Vec<State> {
    let minimal = |more: Value| {
        let mut config = by_rules(&more);
        config["intelligentRouting"] = json!("minimal");
        config
    };
    let works = || vec![("engineer", vec![one(count("one")), done()])];
    let calls = |call: (&'static str, Value)| vec![("engineer", vec![one(call), one(count("one")), done()])];
    let plan = json!({"subtasks": [{"id": "s1", "description": "count", "agent": "engineer"}]}).to_string();
    let chain = json!({"phases": [{"phase": "planning", "task": "count it"}, {"phase": "control"}]});
    let state = |checkpoint_type, config, scripts, decision| State {
        checkpoint_type,
        task: TASK,
        config,
        scripts,
        decision,
        then: "continue",
        lines: 1,
    };
    let mut states = vec![
        State {
            task: "fix it",
            ..state("clarification", by_rules(&json!({})), works(), ("submit", "util.py"))
        },
        state("tool_approval", minimal(json!({"toolApproval": "prompt"})), works(), ("allow", "")),
        state(
            "confirm",
            minimal(json!({})),
            calls(("invoke_hitl_checkpoint", json!({"checkpoint_type": "confirm", "message": "Go on?"}))),
            ("approve", "but carefully"),
        ),
        state(
            "clarification",
            minimal(json!({})),
            calls(("ask_human", json!({"question": "Which?"}))),
            ("submit", "all"),
        ),
        state("max_rounds", minimal(json!({"max_rounds": 1})), works(), ("continue", "a hint")),
        State {
            then: "done",
            ..state("copilot_turn", minimal(json!({"conversational": true})), works(), ("done", ""))
        },
        state("copilot_turn", minimal(json!({"ask_satisfaction": true})), works(), ("satisfied", "")),
        State {
            lines: 0,
            ..state(
                "after_planning",
                minimal(json!({})),
                vec![
                    ("planner", vec![Scripted::text(plan).repeat()]),
                    ("plan_reviewer", vec![Scripted::text("Fine.").repeat()]),
                    ("engineer", vec![one(("chain_phases", chain)), done()]),
                ],
                ("reject", "not now"),
            )
        },
    ];
    states.push(State {
        task: Box::leak(["word"; 61].join(" ").into_boxed_str()),
        ..state("proposal", by_rules(&json!({})), works(), ("option_2", ""))
    });
    states
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_copilot_that_waits_is_found_as_it_was() {
    for state in states() {
        let name = state.checkpoint_type;
        let (model, mut server) = server(&state.scripts).await;
        let mut mars = Mars::start(&server, "t1", state.task, state.config.clone()).await;
        let asked = mars.wait_for_request().await;
        assert!([&asked["checkpoint_type"], &asked["position"]].contains(&&json!(name)), "{name}: {asked}");
        let run = mars.run();
        let before = (model.requests().len(), server.lines("count.txt"), server.events(&run).await);

        server.restart().await;
        let mut mars = Mars::connect(&server, "t1").await;
        mars.say(&first(&server, state.task, state.config.clone())).await;
        let again = mars.wait("approval_requested").await;
        for key in ["approval_id", "checkpoint_type", "position", "options", "description", "expires_at"] {
            assert_eq!(again[key], asked[key], "{name}: {key}");
        }
        let after = (model.requests().len(), server.lines("count.txt"), server.events(&run).await);
        assert_eq!(after, before, "{name}: a restart does nothing");

        let (option, words) = state.decision;
        let received = mars.resolve(&asked, option, json!({"feedback": words})).await;
        assert_eq!(received["feedback"], words, "{name}");
        loop {
            let frame = mars.next().await;
            match frame["event_type"].as_str().unwrap() {
                "workflow_completed" | "workflow_failed" => break,
                "approval_requested" if frame["id"].is_string() => {
                    mars.say(&json!({"type": "resolve_approval", "resolution": state.then,
                                     "approval_id": frame["data"]["approval_id"]}))
                        .await;
                }
                _ => {}
            }
        }
        assert_eq!((mars.run(), server.lines("count.txt")), (run.clone(), state.lines), "{name}");
        let decided = server.events_of(&run, "decision_made").await;
        let of_this = decided.iter().filter(|made| made["data"]["interrupt"] == asked["approval_id"]).count();
        assert_eq!(of_this, 1, "{name}");
        assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true, "{name}");
    }
}

/// A decision that was made before the kill takes effect after the restart. The model is called again with the person's
/// answer, which it receives once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_decision_before_the_kill_is_carried_on_after_it() {
    let (model, mut server) =
        server(&[("engineer", vec![Scripted::hang(), one(count("one")), done()])]).await;
    let config = by_rules(&json!({}));
    let mut mars = Mars::start(&server, "t1", "fix it", config.clone()).await;
    let asked = mars.wait_for_request().await;
    mars.resolve(&asked, "submit", json!({"feedback": "sort in util.py"})).await;
    model.wait_for_requests(1).await;
    model.script("engineer", [one(count("one")), done()]);
    server.restart().await;
    let mut mars = Mars::connect(&server, "t1").await;
    mars.say(&first(&server, "fix it", config)).await;
    mars.wait("workflow_completed").await;
    assert!(!mars.types().contains(&"approval_requested"), "it is not asked again");
    let said = model.requests().pop().unwrap().texts().join("\n");
    assert_eq!(said.matches("sort in util.py").count(), 1, "{said}");
    assert_eq!(server.lines("count.txt"), 1);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}
