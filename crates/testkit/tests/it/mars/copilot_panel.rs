//! A copilot in the web UI. The form of the UI starts the copilot, and the panel of the UI decides each request. A page
//! that reconnects shows the open request (contracts A32, E42).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::ui::{Page, form};

/// Starts a copilot that asks no questions about steps, and whose task is routed by rules.
async fn begun(more: &Value, answers: &[&str]) -> (ScriptedModel, TestServer, Page) {
    let model = ScriptedModel::start().await;
    model.script("engineer", answers.iter().map(|text| Scripted::text(*text)).collect::<Vec<_>>());
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
