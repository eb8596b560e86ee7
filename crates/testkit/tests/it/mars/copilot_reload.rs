//! A copilot whose page reloads in the middle. The page keeps nothing: it lists the sessions, reads the one that a person
//! chooses, and sends the next message as a new task (contract A32).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;

use super::tabs::get;
use super::{Mars, error_summary};
use crate::play::{count, done, one};

/// Frame with which the copilot view of the page sends a message, with each key that the view sends.
pub(super) fn message(text: &str, session: &Value) -> Value {
    json!({ "task": text, "config": {
        "mode": "copilot", "enablePlanning": true, "approvalMode": "none", "autoApproveSimple": true,
        "maxPlanSteps": 5, "model": "gpt-4.1-2025-04-14", "researcherModel": "gpt-4.1-2025-04-14",
        "plannerModel": "gpt-4.1-2025-04-14", "toolApproval": "prompt", "intelligentRouting": "balanced",
        "conversational": false, "continuousMode": false, "maxRounds": 10, "copilotSessionId": session,
    }})
}

/// Starts a server whose router fails, so that rules route each task.
async fn server(engineer: Vec<Scripted>) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    model.script("copilot_control", [Scripted::status(400).repeat()]);
    model.script("engineer", engineer);
    let server = TestServer::setup().model(&model).start().await;
    (model, server)
}

async fn start(server: &TestServer, task: &str, frame: &Value) -> Mars {
    let mut mars = Mars::connect(server, task).await;
    mars.say(frame).await;
    mars
}

/// Reloads the page: its connection closes, and it opens the only session of its list with *Resume*. Returns the id of
/// the session.
async fn reload(server: &TestServer, mut mars: Mars) -> Value {
    mars.send(Message::Close(Some(CloseFrame { code: CloseCode::Away, reason: "".into() }))).await;
    while mars.receive().await.is_ok() {}
    let listed = get(server, "sessions?limit=100").await;
    let [session] = &listed["sessions"].as_array().unwrap()[..] else { panic!("{listed}") };
    assert_eq!((&session["mode"], &session["status"]), (&json!("copilot"), &json!("active")), "{session}");
    let id = session["session_id"].clone();
    let path = format!("sessions/{}", id.as_str().unwrap());
    assert_eq!(get(server, &path).await["conversation_history"][0]["role"], "user");
    server.post(&format!("/edges/mars/api/{path}/resume"), &json!({})).await.ok();
    id
}

/// Says that the result meets the needs of the person, and waits for the end of the run. Returns how often a tool of the
/// run has added a line to `count.txt`.
async fn satisfied(mars: &mut Mars) -> usize {
    let asked = mars.wait("approval_requested").await;
    assert_eq!(asked["position"], "satisfaction", "{asked}");
    mars.resolve(&asked, "exit", json!({})).await;
    let result = mars.wait("result").await;
    mars.wait("workflow_completed").await;
    let folder = std::path::Path::new(result["work_dir"].as_str().unwrap());
    std::fs::read_to_string(folder.join("count.txt")).map_or(0, |text| text.lines().count())
}

async fn runs_of(server: &TestServer, session: &Value) -> usize {
    let path = format!("sessions/{}/runs", session.as_str().unwrap());
    get(server, &path).await["runs"].as_array().unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_attaches_to_the_run_that_waits() {
    let (model, server) = server(vec![one(count("one")), done()]).await;
    let mut mars = start(&server, "t1", &message("count the files of the folder", &Value::Null)).await;
    let asked = mars.wait("approval_requested").await;
    assert_eq!(asked["checkpoint_type"], "tool_approval");
    let run = mars.run();
    let session = reload(&server, mars).await;

    let next = message("how far are you with the files?", &session);
    let mut mars = start(&server, "t2", &next).await;
    let status = mars.wait("status").await;
    assert_eq!(status["status"], "waiting_approval");
    assert!(status["message"].as_str().unwrap().contains("Your message was not used"), "{status}");
    assert_eq!(mars.wait("dag_updated").await["run_id"], run.as_str());
    let again = mars.wait("approval_requested").await;
    assert_eq!(again["approval_id"], asked["approval_id"]);
    assert_eq!(runs_of(&server, &session).await, 1);
    mars.resolve(&again, "allow", json!({})).await;
    assert_eq!(satisfied(&mut mars).await, 1);

    // The connection breaks, and the page sends its frame again. The run has ended, and no second run starts.
    let mut mars = start(&server, "t2", &next).await;
    mars.wait("workflow_completed").await;
    let mut mars = start(&server, "t2", &message("something else", &session)).await;
    assert_eq!(error_summary(&mars.wait("error_occurred").await).0, "idempotency_key_reused");
    assert_eq!((runs_of(&server, &session).await, model.requests_of("engineer").len()), (1, 2));

    // The next message is a task of its own, which continues the conversation.
    let mut mars = start(&server, "t3", &next).await;
    let asked = mars.wait("approval_requested").await;
    mars.resolve(&asked, "deny", json!({})).await;
    // The folder of the session still has the line of the first run, and no second one.
    assert_eq!(satisfied(&mut mars).await, 1);
    assert_ne!(mars.run(), run);
    assert_eq!(runs_of(&server, &session).await, 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_attaches_to_the_run_that_works_without_a_page() {
    let (model, server) = server(vec![Scripted::Hang(Box::new(Scripted::text("One.")))]).await;
    let mars = start(&server, "t1", &message("count the files of the folder", &Value::Null)).await;
    model.wait_for_requests(3).await;
    let session = reload(&server, mars).await;
    let mut mars = start(&server, "t2", &message("how far are you with the files?", &session)).await;
    assert_eq!(mars.wait("status").await["status"], "executing");
    model.release();
    satisfied(&mut mars).await;
    assert_eq!((runs_of(&server, &session).await, model.requests_of("engineer").len()), (1, 1));
}

/// A restart forgets which connections were open. The run and its session are in the journal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_attaches_after_a_restart_of_the_server() {
    let (_model, mut server) = server(vec![one(count("one")), done()]).await;
    let mut mars = start(&server, "t1", &message("count the files of the folder", &Value::Null)).await;
    let asked = mars.wait("approval_requested").await;
    let session = reload(&server, mars).await;
    server.restart().await;
    let mut mars = start(&server, "t2", &message("go on with the files", &session)).await;
    let again = mars.wait("approval_requested").await;
    assert_eq!(again["approval_id"], asked["approval_id"]);
    mars.resolve(&again, "deny", json!({})).await;
    assert_eq!(satisfied(&mut mars).await, 0);
    assert_eq!(runs_of(&server, &session).await, 1);
}

/// A message for a session that does not exist, or that has no task of this edge, is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_message_attaches_to_no_session_of_others() {
    let (model, server) = server(vec![]).await;
    let mut mars = start(&server, "t1", &message("go on", &json!("ses_01k6f0000000000000000000bb"))).await;
    assert_eq!(error_summary(&mars.wait("error_occurred").await), ("unknown_session", "/config/session_id"));
    mars.wait("workflow_failed").await;
    assert!(model.requests().is_empty());
}
