//! A copilot in the web UI. The form of the UI starts the copilot, and the panel of the UI decides each request. A page
//! that reconnects shows the open request (contracts A32, E42).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::tabs::get;
use super::ui::{Page, form};
use super::{Mars, check_invariants};
use crate::play::{count, done, one};

/// Starts a copilot that asks no questions about steps, and whose task is routed by rules.
async fn begun(more: &Value, answers: &[&str]) -> (ScriptedModel, TestServer, Page) {
    begun_with(more, answers.iter().map(|text| Scripted::text(*text)).collect()).await
}

async fn begun_with(more: &Value, script: Vec<Scripted>) -> (ScriptedModel, TestServer, Page) {
    let model = ScriptedModel::start().await;
    model.script("engineer", script);
    let server = TestServer::setup().model(&model).start().await;
    let mut form = form("copilot", more);
    form["useDynamicRouting"] = json!(false);
    form["approvalMode"] = json!("none");
    let mut page = Page::start(&server, "t1", form).await;
    let status = page.until("status").await;
    let ignored: Vec<&str> =
        status["ignored"].as_array().unwrap().iter().filter_map(|each| each["key"].as_str()).collect();
    for key in ["maxTurns", "saveMarkdown", "hitlVariant"] {
        assert!(ignored.contains(&key), "{key}: {status}");
    }
    for key in
        ["availableAgents", "intelligentRouting", "complexityThreshold", "enablePlanning", "copilotSessionId"]
    {
        assert!(!ignored.contains(&key), "{key}: {status}");
    }
    (model, server, page)
}

/// Reloads the page with an empty panel, and waits until the panel shows this kind of request.
async fn comes_back_to(page: &mut Page, server: &TestServer, drawn: &str) {
    page.comes_back(server).await;
    page.panel.asked = None;
    page.drawn(drawn).await;
}

fn request_text(model: &ScriptedModel, n: usize) -> String {
    model.requests_of("engineer")[n].texts().join("\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_and_turns_are_decided_on_in_the_panel_also_after_it_came_back() {
    let (model, server, mut page) = begun(&json!({"conversational": true}), &["One.", "Two."]).await;
    page.drawn("clarification").await;
    comes_back_to(&mut page, &server, "clarification").await;
    page.choose("submit", "sort in util.py").await;
    page.panel.asked = None;
    page.drawn("copilot_turn").await;
    assert!(request_text(&model, 0).contains("sort in util.py"));
    page.choose("submit", "shorter").await;
    page.until("approval_received").await;
    page.drawn("copilot_turn").await;
    assert!(request_text(&model, 1).contains("shorter"));
    comes_back_to(&mut page, &server, "copilot_turn").await;
    page.choose("exit", "").await;
    page.until("workflow_completed").await;
    assert_eq!(page.panel.status, "completed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_is_left_ends_the_task() {
    let (model, _server, mut page) = begun(&json!({}), &[]).await;
    page.drawn("clarification").await;
    page.choose("exit", "").await;
    page.until("workflow_cancelled").await;
    assert!(model.requests().is_empty());
}

/// A request about the person's satisfaction also accepts the two buttons of the text form: `submit` describes changes,
/// and `exit` means satisfied.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whether_it_is_well_is_decided_on_in_the_panel() {
    let (model, server, mut page) =
        begun(&json!({"intelligentRouting": "minimal"}), &["One.", "Two.", "Three."]).await;
    let asked = page.drawn("copilot_turn").await;
    assert_eq!(asked["position"], "satisfaction");
    page.choose("submit", "in blue").await;
    page.until("approval_received").await;
    page.drawn("copilot_turn").await;
    assert!(request_text(&model, 1).contains("in blue"));
    comes_back_to(&mut page, &server, "copilot_turn").await;
    page.choose("exit", "").await;
    page.until("workflow_completed").await;
    assert_eq!(page.panel.status, "completed");
}

/// Returns the session of a page that is reloaded, and the first frame of the page's next message. The page then knows
/// only the session, which a person selected under *Sessions*.
async fn after_reload(page: Page, server: &TestServer, message: &str) -> (String, Value) {
    let session = page.mars.journal_frames()[0]["session_id"].as_str().unwrap().to_owned();
    drop(page);
    let shown = get(server, &format!("sessions/{session}")).await;
    assert_eq!((&shown["mode"], &shown["status"]), (&json!("copilot"), &json!("active")));
    server.post(&format!("/edges/mars/api/sessions/{session}/resume"), &json!({})).await.ok();
    let config = json!({
        "mode": "copilot", "enablePlanning": true, "approvalMode": "none", "autoApproveSimple": true,
        "maxPlanSteps": 5, "model": "gpt-4.1-2025-04-14", "researcherModel": "gpt-4.1-2025-04-14",
        "plannerModel": "gpt-4.1-2025-04-14", "toolApproval": "prompt", "intelligentRouting": "balanced",
        "conversational": false, "continuousMode": false, "maxRounds": 10, "copilotSessionId": session,
    });
    (session, json!({ "task": message, "config": config }))
}

async fn runs_of(server: &TestServer, session: &str) -> usize {
    get(server, &format!("sessions/{session}/runs")).await["runs"].as_array().unwrap().len()
}

/// The next message of a page that was reloaded is a message to the run that waits. It decides no approval, and it is
/// sent once, also if the page connects again after a restart of the server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reloaded_page_goes_on_with_the_run_that_waits() {
    let more = json!({"intelligentRouting": "minimal", "toolApproval": "prompt"});
    let (model, mut server, mut page) = begun_with(&more, vec![one(count("a")), done()]).await;
    let asked = page.drawn("tool_approval").await;
    let (run, folder) = (page.mars.run(), page.folder());
    let (session, frame) = after_reload(page, &server, "use printf next time").await;

    let mut mars = Mars::connect(&server, "t2").await;
    mars.say(&frame).await;
    assert_eq!(mars.wait("status").await["status"], "waiting_approval");
    assert_eq!(mars.wait("dag_updated").await["run_id"], run.as_str());
    assert_eq!(mars.wait("agent_message").await["message"], "use printf next time");
    assert_eq!(mars.wait("approval_requested").await["approval_id"], asked["approval_id"]);
    assert_eq!((mars.run(), runs_of(&server, &session).await), (run.clone(), 1));
    drop(mars);
    let mut mars = Mars::connect(&server, "t2").await;
    mars.say(&frame).await;
    mars.wait("approval_requested").await;
    drop(mars);
    server.restart().await;
    let mut mars = Mars::connect(&server, "t2").await;
    mars.say(&frame).await;
    let asked = mars.wait("approval_requested").await;
    assert_eq!(server.events_of(&run, "message_added").await.len(), 1);
    let other = json!({"task": "something else", "config": frame["config"]});
    assert_eq!(mars.refused(&other).await["error_type"], "idempotency_key_reused");
    assert_eq!(get(&server, "runs/t2/dag").await["run_id"], run.as_str());
    mars.resolve(&asked, "allow", json!({})).await;
    mars.wait("approval_requested").await;
    assert!(request_text(&model, 1).contains("use printf next time"));
    assert_eq!(std::fs::read_to_string(folder.join("count.txt")).unwrap(), "a\n");
    let said = get(&server, &format!("sessions/{session}")).await["conversation_history"].to_string();
    assert_eq!(said.matches("use printf next time").count(), 1, "{said}");
    check_invariants(&server, &mars).await;
}

/// If the run waits for the person's turn, the message is that turn. A question that the page has not shown yet is not
/// answered by it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_message_of_a_reloaded_page_is_a_turn_and_answers_no_question() {
    let (model, server, mut page) = begun(&json!({"conversational": true}), &["One.", "Two."]).await;
    page.drawn("clarification").await;
    let (session, frame) = after_reload(page, &server, "sort the names").await;
    let mut mars = Mars::connect(&server, "t2").await;
    mars.say(&frame).await;
    let asked = mars.wait("approval_requested").await;
    assert_eq!(asked["checkpoint_type"], "clarification");
    assert!(model.requests().is_empty());
    mars.resolve(&asked, "submit", json!({"feedback": "in util.py"})).await;
    let turn = mars.wait_for_request().await;
    assert_eq!(turn["checkpoint_type"], "copilot_turn");
    let said = request_text(&model, 0);
    assert!(said.contains("sort the names") && said.contains("in util.py"), "{said}");

    drop(mars);
    let mut mars = Mars::connect(&server, "t3").await;
    mars.say(&json!({"task": "shorter", "config": frame["config"]})).await;
    let received = mars.wait("approval_received").await;
    assert_eq!((&received["resolution"], &received["feedback"]), (&json!("submit"), &json!("shorter")));
    let turn = mars.wait_for_request().await;
    assert_eq!(turn["context"]["result_preview"], "Two.");
    let bubbles = mars.frames.iter().filter(|frame| frame["event_type"] == "agent_message");
    let bubbles: Vec<&Value> = bubbles.map(|frame| &frame["data"]["message"]).collect();
    assert_eq!(bubbles, ["Two."]);
    assert!(request_text(&model, 1).contains("shorter"));
    mars.resolve(&turn, "done", json!({})).await;
    mars.wait("workflow_completed").await;
    assert_eq!(runs_of(&server, &session).await, 1);
    check_invariants(&server, &mars).await;

    // A task in another mode is a task of its own, and so is the next message after the end of the run.
    model.script("engineer", [done().repeat()]);
    let mut config = frame["config"].clone();
    config["intelligentRouting"] = json!("minimal");
    for (n, mode) in ["one-shot", "copilot"].into_iter().enumerate() {
        config["mode"] = json!(mode);
        let mut mars = Mars::connect(&server, &format!("u{n}")).await;
        mars.say(&json!({"task": "count the files of the folder", "config": config})).await;
        mars.wait("workflow_started").await;
        assert_eq!(runs_of(&server, &session).await, n + 2, "{mode}");
    }
}
