//! Input that a console of the source system sends exactly as the person typed it: letters and free text (contracts
//! A31, E34, E41).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::{Mars, around_steps, check_invariants, error_summary, plan, planned};
use crate::play::{command, count, done, one};

/// Returns a decision frame that contains the typed text.
fn typed(asked: &Value, said: &str) -> Value {
    json!({ "type": "approval_response", "approval_id": asked["approval_id"], "resolution": said })
}

/// Returns the option and the text of an `approval_received` frame.
fn came(received: &Value) -> (&str, &str) {
    (received["resolution"].as_str().unwrap(), received["feedback"].as_str().unwrap())
}

/// Sends text that must be refused. Checks that the request is sent again and that nothing else happened. Returns the
/// error.
async fn refused(mars: &mut Mars, asked: &Value, said: &str) -> Value {
    let error = mars.refused(&typed(asked, said)).await;
    assert_eq!(error_summary(&error), ("invalid_request", "/resolution"), "{said}: {error}");
    assert_eq!(mars.wait("approval_requested").await, *asked, "{said}");
    error
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_takes_letters_and_any_text_revises_it() {
    let plans = [plan(&[("build", "engineer")]), plan(&[("build and test", "engineer")])];
    let (model, server) = planned(&plans).await;
    let config = json!({"phases": [{"type": "hitl_planning"}, {"type": "control"}], "n_plan_reviews": 0});
    let mut mars = Mars::start(&server, "t1", "Build it.", config.clone()).await;
    let asked = mars.wait_for_request().await;
    // A letter or word that selects an option in a different kind of request is not accepted as free text.
    for said in ["retry", "s", ""] {
        refused(&mut mars, &asked, said).await;
    }
    mars.say(&typed(&asked, " add Tests ")).await;
    assert_eq!(came(&mars.wait("approval_received").await), ("revise", "add Tests"));
    let asked = mars.wait_for_request().await;
    assert!(model.requests_of("planner")[1].texts().join("\n").contains("add Tests"));
    assert!(model.requests_of("engineer").is_empty());
    mars.say(&typed(&asked, "Y")).await;
    let received = mars.wait("approval_received").await;
    assert_eq!((came(&received), &received["approved"]), (("approve", ""), &json!(true)));
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;

    model.script("planner", [plan(&[("build", "engineer")])]);
    let mut mars = Mars::start(&server, "t2", "Build it.", config).await;
    let asked = mars.wait_for_request().await;
    mars.say(&typed(&asked, "n")).await;
    assert_eq!(came(&mars.wait("approval_received").await), ("reject", ""));
    mars.wait("workflow_failed").await;
}

/// For requests around a step, free text would mean an approval, and this protocol cannot ask for confirmation. Free
/// text is therefore refused, unless the frame names an option.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn around_a_step_letters_decide_and_text_alone_approves_nothing() {
    let steps = [("one", "engineer"), ("two", "engineer")];
    let (model, server) = planned(&[plan(&steps)]).await;
    model.script("engineer", [one(count("one")), done(), one(count("again")), done()]);
    let mut mars = Mars::start(&server, "t1", "Build it.", around_steps("both")).await;
    let before = mars.wait_for_request().await;
    for said in ["only the fast ones", "maybe", "yy", "c", ""] {
        let error = refused(&mut mars, &before, said).await;
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("choose one of: approve, modify, skip, reject"), "{message}");
        assert!(message.contains("`feedback`"), "{message}");
    }
    assert_eq!((model.requests_of("engineer").len(), server.lines("count.txt")), (0, 0));
    // A frame may contain free text in only one of its fields.
    let mut both = typed(&before, "only the fast ones");
    both["approved"] = json!(true);
    assert_eq!(error_summary(&mars.refused(&both).await), ("invalid_request", "/resolution"));
    mars.resolve(&before, "y", json!({"feedback": "only the fast ones"})).await;
    let after = mars.wait_for_request().await;
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("only the fast ones"));
    for said in ["well done", "y", "n", ""] {
        refused(&mut mars, &after, said).await;
    }
    mars.say(&typed(&after, "R")).await;
    assert_eq!(came(&mars.wait("approval_received").await).0, "redo");
    let after = mars.wait_for_request().await;
    assert_eq!(server.lines("count.txt"), 2);
    mars.say(&typed(&after, "c")).await;
    assert_eq!(came(&mars.wait("approval_received").await).0, "continue");
    let before = mars.wait_for_request().await;
    assert_eq!(before["checkpoint_type"], "before_step");
    mars.say(&typed(&before, "S")).await;
    assert_eq!(came(&mars.wait("approval_received").await).0, "skip");
    mars.wait("workflow_completed").await;
    check_invariants(&server, &mars).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_step_is_retried_skipped_or_left() {
    let config = || around_steps("on_error");
    let (model, server) = planned(&[plan(&[("build", "engineer")]).repeat()]).await;
    for (n, (said, option, text, end)) in [
        ("R", "retry", "", "workflow_completed"),
        ("s", "skip", "", "workflow_completed"),
        ("Leave it as it is", "abort", "Leave it as it is", "workflow_failed"),
        ("a", "abort", "", "workflow_failed"),
    ]
    .into_iter()
    .enumerate()
    {
        model.script("engineer", [one(command("false")), one(count("again")), done()]);
        let mut mars = Mars::start(&server, &format!("t{n}"), "Build it.", config()).await;
        let asked = mars.wait_for_request().await;
        assert_eq!(asked["checkpoint_type"], "on_error");
        for near in ["y", "approve", ""] {
            refused(&mut mars, &asked, near).await;
        }
        mars.say(&typed(&asked, said)).await;
        assert_eq!(came(&mars.wait("approval_received").await), (option, text));
        mars.wait(end).await;
        check_invariants(&server, &mars).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_is_led_and_ended_by_its_words() {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().model(&model).start().await;
    let config = json!({
        "mode": "copilot", "use_copilot_control": false, "ask_satisfaction": false,
        "intelligentRouting": "minimal", "conversational": true,
    });
    for (n, (said, option)) in
        [("Complete", "done"), ("finished", "done"), ("BYE", "exit"), ("quit", "exit"), ("", "exit")]
            .into_iter()
            .enumerate()
    {
        model.script("engineer", ["One.", "Two."].map(Scripted::text));
        let task = format!("t{n}");
        let mut mars = Mars::start(&server, &task, "write a poem on boats", config.clone()).await;
        let asked = mars.wait_for_request().await;
        // A frame with an end of input and also a text is refused.
        let mut both = typed(&asked, "");
        both["feedback"] = json!("shorter");
        assert_eq!(error_summary(&mars.refused(&both).await), ("invalid_request", "/feedback"));
        mars.say(&typed(&asked, "bye for now")).await;
        assert_eq!(came(&mars.wait("approval_received").await), ("submit", "bye for now"));
        let asked = mars.wait_for_request().await;
        let told = model.requests_of("engineer").pop().unwrap().texts().join("\n");
        assert!(told.contains("bye for now"), "{told}");
        mars.say(&typed(&asked, said)).await;
        assert_eq!(came(&mars.wait("approval_received").await), (option, ""), "`{said}`");
        mars.wait("workflow_completed").await;
        check_invariants(&server, &mars).await;
    }
}
