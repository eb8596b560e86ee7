//! What was allowed for a session, over the real binary: it survives a restart, is no other session's, and ends by
//! its time.

use holdshort_testkit::model::ScriptedModel;
use holdshort_testkit::server::{TestServer, eventually};
use serde_json::{Value, json};

use crate::play::{SOLO, count, done, one};

async fn server(workflow: &str) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(count("a")), done()]);
    let server = TestServer::setup().workflow("solo", workflow).model(&model).start().await;
    (model, server)
}

/// Starts a run in a session, or in one of its own.
async fn start(server: &TestServer, session: Option<&Value>) -> String {
    let mut body = server.run_body("solo", "count");
    if let Some(session) = session {
        body["session"] = session.clone();
    }
    server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned()
}

/// A session in which counting is allowed.
async fn allowed(server: &TestServer) -> Value {
    let run = start(server, None).await;
    let asked = server.wait_one(&run).await;
    server.choose(&asked, "approve_session").await;
    server.wait_status(&run, &["completed"]).await;
    server.run(&run).await["session"].clone()
}

#[tokio::test]
async fn a_grant_survives_a_restart_and_is_no_other_session_s() {
    let (_model, mut server) = server(SOLO).await;
    let session = allowed(&server).await;
    let path = format!("/v1/sessions/{}/grants", session.as_str().unwrap());
    let before = server.get(&path).await.ok();
    server.restart().await;
    assert_eq!(server.get(&path).await.ok(), before);
    let next = start(&server, Some(&session)).await;
    server.wait_status(&next, &["completed"]).await;
    assert!(server.events_of(&next, "interrupt_opened").await.is_empty());
    assert_eq!(server.lines("count.txt"), 2);

    // The same call of another session asks, before it and after it was allowed here once more.
    let other = start(&server, None).await;
    let asked = server.wait_one(&other).await;
    assert_eq!((&asked["kind"], server.lines("count.txt")), (&json!("tool_approval"), 2));
    let session = server.run(&other).await["session"].clone();
    let path = format!("/v1/sessions/{}/grants", session.as_str().unwrap());
    assert_eq!(server.get(&path).await.ok()["items"], json!([]));
}

/// Its time counts on while the server is gone.
#[tokio::test]
async fn a_grant_ends_by_its_time() {
    let brief = SOLO.replace("gates:\n", "gates:\n  grants: {expires_after: 1s}\n");
    let (_model, mut server) = server(&brief).await;
    let session = allowed(&server).await;
    server.restart().await;
    // Runs are started until one asks: the next one after the end of its time.
    let asked = eventually("it asks again", async || {
        let run = start(&server, Some(&session)).await;
        let at = server.wait_status(&run, &["completed", "waiting"]).await;
        (at["status"] == "waiting").then_some(run)
    })
    .await;
    let card = server.wait_one(&asked).await;
    assert_eq!(card["kind"], "tool_approval");
    let path = format!("/v1/sessions/{}/grants", session.as_str().unwrap());
    let grants = server.get(&path).await.ok();
    assert!(
        grants["items"][0]["expires_at"].is_string() && grants["items"][0]["revoked_at"].is_null(),
        "{grants}"
    );
    server.choose(&card, "reject").await;
    server.wait_status(&asked, &["completed"]).await;
}
