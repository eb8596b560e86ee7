//! The web UI as a client (contract A32): its form, its single panel, and how it reconnects.

use std::path::PathBuf;

use holdshort_testkit::model::Scripted;
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

use super::panel::Panel;
use super::{Mars, error_summary, plan, planned};
use crate::play::{ask, count, done, one, write};

/// Returns every key of the form, with the default value or with the value in `touched`.
pub(crate) fn form(mode: &str, touched: &Value) -> Value {
    let mut form: Value = serde_json::from_str(
        r#"{
        "model": "gpt-4.1-2025-04-14", "maxRounds": 25, "maxAttempts": 6, "agent": "engineer",
        "workDir": "~/mars_workdir", "defaultModel": "gpt-4.1-2025-04-14",
        "defaultFormatterModel": "o3-mini-2025-01-31", "maxPlanSteps": 2, "nPlanReviews": 1,
        "planInstructions": "", "plannerModel": "gpt-4.1-2025-04-14",
        "researcherModel": "gpt-4.1-2025-04-14", "planReviewerModel": "o3-mini-2025-01-31",
        "ideaMakerModel": "gpt-4.1-2025-04-14", "ideaHaterModel": "o3-mini-2025-01-31",
        "hitlVariant": "full_interactive", "maxHumanIterations": null, "approvalMode": "both",
        "allowPlanModification": true, "allowStepSkip": true, "allowStepRetry": true, "showStepContext": true,
        "availableAgents": ["engineer", "researcher"], "enablePlanning": true, "complexityThreshold": 50,
        "continuousMode": false, "maxTurns": 20, "autoApproveSimple": true, "engineerInstructions": "",
        "researcherInstructions": "", "saveMarkdown": true, "saveJson": true, "saveText": false,
        "maxWorkers": 4, "maxDepth": 10, "ocrOutputDir": null, "summarizerModel": "gpt-4.1-2025-04-14",
        "toolApproval": "none", "intelligentRouting": "balanced", "conversational": false,
        "copilotSessionId": null, "useDynamicRouting": true, "controlModel": "gpt-4.1-2025-04-14",
        "sessionName": null
    }"#,
    )
    .unwrap();
    form["mode"] = json!(mode);
    form.as_object_mut().unwrap().extend(touched.as_object().unwrap().clone());
    form
}

/// Page of the web UI: a connection, and the state that its frames produced. The page keeps its state when it
/// reconnects.
pub(crate) struct Page {
    pub(crate) mars: Mars,
    pub(crate) panel: Panel,
    task: String,
    first: Value,
    /// Number of frames that the page has handled.
    heard: usize,
}

impl Page {
    pub(crate) async fn start(server: &TestServer, task: &str, config: Value) -> Self {
        let first = json!({ "task": "Build it.", "config": config });
        let mut mars = Mars::connect(server, task).await;
        mars.say(&first).await;
        Self { mars, panel: Panel::default(), task: task.to_owned(), first, heard: 0 }
    }

    /// Reconnects, and sends the first frame again.
    pub(crate) async fn comes_back(&mut self, server: &TestServer) {
        self.mars = Mars::connect(server, &self.task).await;
        self.mars.say(&self.first).await;
        self.heard = 0;
    }

    /// Returns the working directory of the task, which `workflow_started` names.
    pub(crate) fn folder(&self) -> PathBuf {
        let started = self.mars.frames.iter().find(|frame| frame["event_type"] == "workflow_started");
        PathBuf::from(started.expect("the task has started")["data"]["work_dir"].as_str().unwrap())
    }

    async fn receive_frame(&mut self) -> Value {
        let frame = self.mars.next().await;
        self.heard += 1;
        self.panel.apply_frame(&frame);
        frame
    }

    pub(crate) async fn until(&mut self, event_type: &str) -> Value {
        loop {
            let frame = self.receive_frame().await;
            if frame["event_type"] == event_type {
                return frame["data"].clone();
            }
        }
    }

    /// Waits until the panel shows a request of this type.
    pub(crate) async fn drawn(&mut self, checkpoint_type: &str) -> Value {
        loop {
            if let Some(asked) =
                self.panel.asked.as_ref().filter(|asked| asked["checkpoint_type"] == checkpoint_type)
            {
                return asked.clone();
            }
            self.receive_frame().await;
        }
    }

    pub(crate) async fn choose(&mut self, option: &str, words: &str) {
        self.decide(option, words, "").await;
    }

    async fn decide(&mut self, option: &str, words: &str, modifications: &str) {
        let frame = self.panel.choose(option, words, modifications);
        self.mars.say(&frame).await;
    }

    fn lines(&self, line: &str) -> usize {
        self.panel.console.iter().filter(|each| each.contains(line)).count()
    }
}

fn hitl(more: &Value) -> Value {
    let mut form = form("hitl-interactive", more);
    form["nPlanReviews"] = json!(0);
    form
}

/// The form can start a task in each mode. Keys without an effect are reported once, and so is the directory that the
/// run uses.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_form_begins_in_every_mode() {
    let (model, server) = planned(&[]).await;
    model.script("planner", [plan(&[("build", "engineer")]).repeat()]);
    model.script("idea_maker", [Scripted::text("A kite.").repeat()]);
    model.script("idea_hater", [Scripted::text("It needs wind.").repeat()]);
    model.script("engineer", [done().repeat()]);
    for (n, (mode, more, begins)) in [
        ("one-shot", json!({}), "workflow_completed"),
        ("planning-control", json!({}), "workflow_completed"),
        ("idea-generation", json!({}), "workflow_completed"),
        ("hitl-interactive", json!({}), "approval_requested"),
        ("hitl-interactive", json!({"hitlVariant": "planning_only"}), "approval_requested"),
        ("hitl-interactive", json!({"hitlVariant": "error_recovery"}), "workflow_completed"),
        ("one-shot", json!({"workDir": null, "model": null, "maxRounds": null}), "workflow_completed"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut page = Page::start(&server, &format!("t{n}"), form(mode, &more)).await;
        let status = page.until("status").await;
        let named: Vec<&str> =
            status["ignored"].as_array().unwrap().iter().filter_map(|each| each["key"].as_str()).collect();
        assert!(named.contains(&"saveMarkdown") && named.contains(&"enablePlanning"), "{mode}: {status}");
        let message = status["message"].as_str().unwrap();
        let why =
            status["ignored"].as_array().unwrap().iter().find(|each| each["key"] == "saveMarkdown").unwrap();
        assert!(why["why"].as_str().unwrap().contains("is for reading papers"), "{mode}: {status}");
        let started = page.until("workflow_started").await;
        page.until(begins).await;
        assert!(
            page.lines("error: ") == 0 && page.lines("config keys have no effect") == 1,
            "{mode}: {:?}",
            page.panel.console
        );
        if mode != "idea-generation" {
            let folder = started["work_dir"].as_str().unwrap();
            assert!(named.contains(&"work_dir") && message.contains(folder), "{mode}: {status}");
            let path = std::path::Path::new(folder);
            assert!(path.is_dir() && !path.starts_with(server.data()), "{mode}: {folder}");
        }
    }
}

/// An unknown key or an invalid value is refused, and the error names the key.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_form_does_not_have_is_refused_by_name() {
    let (_model, server) = planned(&[]).await;
    for (more, pointer) in [
        (json!({"maxRouns": 5}), "/config/maxRouns"),
        (json!({"saveJson": "yes"}), "/config/saveJson"),
        (json!({"availableAgents": {}}), "/config/availableAgents"),
        (json!({"maxTurns": "20"}), "/config/maxTurns"),
        (json!({"approvalMode": "always"}), "/config/approvalMode"),
    ] {
        let mut page = Page::start(&server, "t1", form("one-shot", &more)).await;
        assert_eq!(error_summary(&page.until("error_occurred").await), ("invalid_request", pointer));
    }
    assert_eq!(server.get("/v1/runs").await.ok()["items"], json!([]));
}

/// The first request shows the complete plan or the complete step. Each decision is one button, with an optional text.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_and_its_steps_are_decided_on_in_the_panel() {
    let long = "x".repeat(3_000);
    let plans = [
        plan(&[("build", "engineer"), (&long, "engineer")]),
        plan(&[("build", "engineer"), (&long, "engineer")]),
    ];
    let (model, server) = planned(&plans).await;
    model.script(
        "engineer",
        [one(count("one")), done(), one(count("two")), done(), one(count("two")), done()],
    );
    let mut page = Page::start(&server, "t1", hitl(&json!({"maxHumanIterations": 3}))).await;
    let asked = page.drawn("after_planning").await;
    let shown = asked["description"].as_str().unwrap();
    assert!(shown.contains("1. build (engineer)\n   - carefully") && shown.contains(&long), "{shown}");
    assert_eq!(asked["context"]["plan"].as_array().map(Vec::len), Some(2));
    page.choose("revise", "add tests").await;
    page.until("approval_received").await;
    let asked = page.drawn("after_planning").await;
    assert_eq!(asked["context"]["previous_feedback"][0]["feedback"], "add tests");
    page.choose("approve", "").await;
    let asked = page.drawn("before_step").await;
    assert!(asked["description"].as_str().unwrap().ends_with("build\n- carefully"), "{asked}");
    assert_eq!(
        [&asked["context"]["step_num"], &asked["context"]["step"]],
        [&json!(1), &json!("build\n- carefully")]
    );
    page.choose("approve", "only the fast ones").await;
    let asked = page.drawn("after_step").await;
    assert!(asked["description"].as_str().unwrap().ends_with("Done."), "{asked}");
    page.choose("continue", "").await;
    let asked = page.drawn("before_step").await;
    assert!(asked["description"].as_str().unwrap().contains(&long), "the whole step");
    page.choose("approve", "").await;
    page.drawn("after_step").await;
    page.choose("redo", "use ISO").await;
    page.until("approval_received").await;
    page.drawn("after_step").await;
    page.choose("continue", "").await;
    let result = page.until("result").await;
    assert!(result["session_id"].as_str().unwrap().starts_with("ses_"), "{result}");
    page.until("workflow_completed").await;
    let panel = &page.panel;
    assert_eq!((panel.status.as_str(), panel.is_running), ("completed", false));
    assert!(
        panel.nodes.iter().all(|(_, status)| status == "completed") && panel.tokens > 0,
        "{:?}",
        panel.nodes
    );
    assert!(panel.session.is_some() && panel.asked.is_none());
    assert!(model.requests_of("engineer")[0].texts().join("\n").contains("only the fast ones"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_modified_or_rejected_in_the_panel() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")]), plan(&[("build", "engineer")])]).await;
    let mut page = Page::start(&server, "t1", hitl(&json!({"hitlVariant": "planning_only"}))).await;
    // A text that is not a plan is refused, and the panel shows the request again.
    page.drawn("after_planning").await;
    page.decide("modify", "", "{\"step_1\": \"other\"}").await;
    assert_eq!(error_summary(&page.until("error_occurred").await).0, "invalid_request");
    let mut steps = page.drawn("after_planning").await["context"]["plan"].clone();
    steps[0]["sub_task"] = json!("build in Rust");
    page.decide("modify", "", &json!({ "plan": steps }).to_string()).await;
    page.until("workflow_completed").await;
    assert_eq!(page.panel.nodes, [("s1".to_owned(), "completed".to_owned())]);

    let mut page = Page::start(&server, "t2", hitl(&json!({}))).await;
    page.drawn("after_planning").await;
    page.choose("reject", "wrong").await;
    page.until("workflow_failed").await;
    assert!(page.lines("wrong") > 0 && page.panel.session.is_some(), "{:?}", page.panel.console);
}

/// The panel of a failed step shows the error of the step.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failed_step_is_decided_on_in_the_panel() {
    let (model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    model
        .script("engineer", [one(("run_command", json!({"command": "false"}))), one(count("again")), done()]);
    let mut page = Page::start(&server, "t1", hitl(&json!({"hitlVariant": "error_recovery"}))).await;
    let asked = page.drawn("on_error").await;
    assert!(asked["description"].as_str().unwrap().contains("exit code 1"), "{asked}");
    page.choose("retry", "").await;
    page.until("workflow_completed").await;
    assert!(page.lines("false: exit code 1") == 1, "{:?}", page.panel.console);
}

/// If two requests are open, the panel shows the second after the first is decided, whichever is decided first. A panel
/// that requires a text sends `submit`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_request_is_not_lost() {
    let (model, server) = planned(&[]).await;
    let two =
        [ask("Which way?"), write("a.txt", "x\n")].map(|(tool, arguments)| (tool.to_owned(), arguments));
    model.script("engineer", [Scripted::Calls { text: "I write.".to_owned(), calls: two.to_vec() }, done()]);
    let mut page = Page::start(&server, "t1", form("one-shot", &json!({"toolApproval": "prompt"}))).await;
    while page
        .mars
        .journal_frames()
        .iter()
        .filter(|frame| frame["event_type"] == "approval_requested")
        .count()
        < 2
    {
        page.receive_frame().await;
    }
    let mut decided = Vec::new();
    for _ in 0..2 {
        let asked = page.panel.asked.clone().expect("a panel");
        let kind = asked["checkpoint_type"].as_str().unwrap().to_owned();
        match &*kind {
            "clarification" => page.choose("submit", "left").await,
            _ => page.choose("allow", "").await,
        }
        page.until("approval_received").await;
        decided.push(kind);
        if decided.len() == 1 {
            page.until("approval_requested").await;
        }
    }
    decided.sort();
    assert_eq!(decided, ["clarification", "tool_approval"]);
    page.until("workflow_completed").await;
    assert!(model.requests().last().unwrap().texts().join("\n").contains("left"));
}

/// After a refused decision the client receives the error, and then the request again (contract E41).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_decision_loses_no_panel() {
    let (_model, server) = planned(&[plan(&[("build", "engineer")])]).await;
    let mut page = Page::start(&server, "t1", hitl(&json!({}))).await;
    let asked = page.drawn("after_planning").await;
    page.choose("revise", "").await;
    let refused = page.until("error_occurred").await;
    assert_eq!(error_summary(&refused), ("invalid_request", "/feedback"));
    assert_eq!(page.receive_frame().await["event_type"], "approval_requested");
    assert_eq!(page.panel.asked.as_ref(), Some(&asked));
    // `submit` without a text releases nothing, and neither does an option that is not offered (contract E42).
    let id = &asked["approval_id"];
    for resolution in ["submit", "skip"] {
        page.mars
            .say(&json!({"type": "resolve_approval", "approval_id": id, "resolution": resolution}))
            .await;
        page.until("error_occurred").await;
        page.until("approval_requested").await;
    }
    // A malformed decision, or a decision that names a different run, also releases nothing. Sending it clears the
    // panel, and the panel then shows the request again.
    for wrong in [json!({"extra": 1}), json!({"approved": "yes"}), json!({"run_id": "t2"})] {
        let mut frame = json!({"type": "resolve_approval", "approval_id": id, "resolution": "approve"});
        frame.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        page.mars.say(&frame).await;
        page.until("error_occurred").await;
        page.until("approval_requested").await;
    }
    page.choose("approve", "").await;
    page.drawn("before_step").await;
    page.mars.say(&json!({"type": "resolve_approval", "approval_id": id, "resolution": "reject"})).await;
    assert_eq!(page.until("error_occurred").await["error_type"], "already_resolved");
    page.panel.asked = None;
    page.drawn("before_step").await;
    page.choose("reject", "").await;
    page.until("workflow_failed").await;
}

/// A page that reconnects and repeats its first frame receives all missed frames, no frame twice, and its panel. The
/// same is true if the server was killed before the reconnect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_that_comes_back_is_told_nothing_twice() {
    let (model, mut server) = planned(&[plan(&[("build", "engineer")])]).await;
    let mut page = Page::start(&server, "t1", hitl(&json!({}))).await;
    page.drawn("after_planning").await;
    let bubbles = page.panel.bubbles.clone();
    let tokens = page.panel.tokens;
    page.panel.asked = None;
    page.comes_back(&server).await;
    assert!(page.until("status").await["ignored"].is_null(), "named once");
    page.drawn("after_planning").await;
    assert_eq!((&page.panel.bubbles, page.panel.tokens), (&bubbles, tokens));

    // A page that was disconnected receives the missed frames.
    let asked = page.panel.asked.clone().unwrap();
    drop(page.mars);
    let id = asked["approval_id"].as_str().unwrap();
    server.choose(&server.interrupt(id).await, "approve").await;
    page.mars = Mars::connect(&server, "t1").await;
    page.mars.say(&page.first).await;
    page.drawn("before_step").await;
    assert_eq!(page.panel.nodes, [("s1".to_owned(), "waiting_approval".to_owned())]);
    assert_eq!(page.panel.bubbles, bubbles);

    server.restart().await;
    page.panel.asked = None;
    page.comes_back(&server).await;
    page.drawn("before_step").await;
    assert_eq!(page.panel.bubbles, bubbles);
    page.choose("approve", "").await;
    page.drawn("after_step").await;
    page.choose("continue", "").await;
    let result = page.until("result").await;
    page.until("workflow_completed").await;
    assert_eq!(page.panel.bubbles.iter().filter(|said| *said == "Done.").count(), 1);
    let made = std::path::Path::new(result["work_dir"].as_str().unwrap()).join("count.txt");
    let lines = std::fs::read_to_string(made).unwrap();
    assert_eq!((lines.lines().count(), model.requests_of("engineer").len()), (1, 2));
    // A page that reconnects after the end of the run receives the end, and no frame from before the end.
    page.panel.is_running = true;
    page.comes_back(&server).await;
    page.until("workflow_completed").await;
    assert_eq!(page.panel.bubbles.iter().filter(|said| *said == "Done.").count(), 1);
    assert!(!page.panel.is_running && page.panel.nodes[0].1 == "completed");
    page.panel = Panel::default();
    server.restart().await;
    page.comes_back(&server).await;
    page.until("workflow_completed").await;
    assert!(page.panel.bubbles.is_empty() && page.panel.session.is_some());
}

/// Pause, resume and cancel name the run by its task id.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_it_steers_it_names_by_its_task() {
    let (_model, server) = planned(&[Scripted::hang()]).await;
    let mut page = Page::start(&server, "t1", hitl(&json!({}))).await;
    page.until("step_started").await;
    for (kind, event) in
        [("pause", "workflow_paused"), ("resume", "workflow_resumed"), ("cancel", "workflow_cancelled")]
    {
        page.mars.say(&json!({"type": kind, "run_id": "t1"})).await;
        page.until(event).await;
    }
    assert!(page.lines("cancelled by operator") == 1, "{:?}", page.panel.console);
}
