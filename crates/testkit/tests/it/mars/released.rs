//! Calls that need no approval (case 18, contracts A24, E32). No request is sent, and the journal names the rule that
//! allowed the call.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{Mars, check_invariants};
use crate::play::{count, done, one};

/// Returns the only event of this type.
fn only<'e>(events: &'e [Value], kind: &str) -> &'e Value {
    let mut of = events.iter().filter(|event| event["type"] == kind);
    let found = of.next().unwrap_or_else(|| panic!("no {kind}"));
    assert!(of.next().is_none(), "several {kind}");
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn case_18_a_command_runs_unasked_and_the_audit_says_what_let_it() {
    let copilot = json!({"mode": "copilot", "use_copilot_control": false, "ask_satisfaction": false, "intelligentRouting": "minimal"});
    let table = [
        (json!({"tool_approval": "auto_allow_all"}), "tool_approval is auto_allow_all"),
        (json!({"toolApproval": "auto_allow_all"}), "tool_approval is auto_allow_all"),
        (json!({"tool_approval": "none"}), "tool_approval is none: no call needs approval"),
        (json!({}), "tool_approval is none: no call needs approval"),
    ];
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().model(&model).start().await;
    for (n, (more, why)) in table.into_iter().enumerate() {
        let mut config = copilot.clone();
        config.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        model.script("engineer", [one(count("made")), done()]);
        let task = format!("t{n}");
        let mut mars = Mars::start(&server, &task, "count the files of the folder", config).await;
        mars.wait("workflow_completed").await;
        assert!(!mars.types().contains(&"approval_requested"), "{more}");
        assert_eq!(server.lines("count.txt"), n + 1);
        let events = server.events(&mars.run()).await;
        assert!(!events.iter().any(|event| event["type"] == "interrupt_opened"), "{more}");
        let released = only(&events, "tool_authorised");
        // The releaser is not a person but a rule of the run's workflow, recorded with its reason.
        let rule = &released["data"]["by"]["gate"]["rule"];
        assert_eq!((&rule["source"], rule["rule"].is_u64()), (&json!("workflow"), true), "{released:#}");
        assert_eq!(released["data"]["content"]["text"], why, "{released:#}");
        assert_eq!(released["actor"]["role"], "engine", "{released:#}");
        let began = only(&events, "tool_started");
        assert_eq!(
            (&began["data"]["call"], &began["data"]["digest"]),
            (&released["data"]["call"], &released["data"]["digest"])
        );
        check_invariants(&server, &mars).await;
    }
}

/// With `prompt`, a person is asked about the command, and the journal names the person's decision instead of a rule.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_person_let_run_names_their_decision() {
    let model = ScriptedModel::start().await;
    model.script("engineer", [one(count("made")), done()]);
    let server = TestServer::setup().model(&model).start().await;
    let config = json!({"mode": "one-shot", "tool_approval": "prompt"});
    let mut mars = Mars::start(&server, "t1", "count the files of the folder", config).await;
    let asked = mars.wait_for_request().await;
    assert_eq!(server.lines("count.txt"), 0);
    mars.resolve(&asked, "allow", json!({})).await;
    mars.wait("workflow_completed").await;
    let events = server.events(&mars.run()).await;
    let released = only(&events, "tool_authorised");
    assert_eq!(released["data"]["by"], json!({"interrupt": asked["approval_id"]}));
    assert_eq!(only(&events, "decision_made")["actor"]["id"], "operator");
    check_invariants(&server, &mars).await;
}
