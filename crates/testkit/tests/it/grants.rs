//! Grants of a session, over the real binary. Grants survive a restart, are not valid in other sessions, and expire.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{TestServer, eventually};
use reqwest::Method;
use serde_json::{Value, json};

use crate::play::{SOLO, command, count, done, one, solo, write};

async fn server(workflow: &str) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    model.script("solo", [one(count("a")), done()]);
    let server = TestServer::setup().workflow("solo", workflow).model(&model).start().await;
    (model, server)
}

/// Starts a run in the given session, or in a new session.
async fn start(server: &TestServer, session: Option<&Value>) -> String {
    let mut body = server.run_body("solo", "count");
    if let Some(session) = session {
        body["session"] = session.clone();
    }
    server.post("/v1/runs", &body).await.ok()["id"].as_str().unwrap().to_owned()
}

/// Returns a session with a grant for the command that the function `count` runs.
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

    // A grant of the first session is not valid in a second session, so a call of the second session asks.
    let other = start(&server, None).await;
    let asked = server.wait_one(&other).await;
    assert_eq!((&asked["kind"], server.lines("count.txt")), (&json!("tool_approval"), 2));
    let session = server.run(&other).await["session"].clone();
    let path = format!("/v1/sessions/{}/grants", session.as_str().unwrap());
    assert_eq!(server.get(&path).await.ok()["items"], json!([]));
}

/// A grant expires by the wall clock, even while the server is down.
#[tokio::test]
async fn a_grant_ends_by_its_time() {
    let brief = SOLO.replace("gates:\n", "gates:\n  grants: {expires_after: 1s}\n");
    let (_model, mut server) = server(&brief).await;
    let session = allowed(&server).await;
    server.restart().await;
    // Start runs until one of them asks, because the grant has expired.
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

fn ids(items: &[Value]) -> Vec<&str> {
    items.iter().map(|item| item["id"].as_str().unwrap()).collect()
}

async fn read(server: &TestServer, id: &str) -> Value {
    server.get(&format!("/v1/interrupts/{id}")).await.ok()
}

/// `approve_session` lists the other open calls that the grant would cover, and approves those of the listed calls that
/// the person selects in `also`.
#[tokio::test]
async fn a_grant_releases_the_open_calls_that_were_kept() {
    let calls = Scripted::calls([count("a"), count("b"), count("c"), write("f", "x")]);
    let (_model, server) = solo([calls, done()]).await;
    let run = server.start_run("solo", "count").await;
    let open = server.wait_open(&run, 4).await;
    let [first, second, third, other] = ids(&open)[..] else { panic!("{open:#?}") };
    let shown = read(&server, first).await;
    let title = |id: &str| json!({"interrupt": id, "title": open.iter().find(|it| it["id"] == *id).unwrap()["title"]});
    let mut covered = [second, third];
    covered.sort_unstable();
    assert_eq!(shown["also_covers"], json!(covered.map(title)));

    let refused =
        server.decide(&open[0], &json!({"option": "approve_session", "also": [second, other]})).await;
    assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!("/also/1")));
    let refused = server.decide(&open[0], &json!({"option": "approve", "also": [second]})).await;
    assert_eq!((refused.status, &refused.body["errors"][0]["pointer"]), (422, &json!("/also")));
    assert_eq!((server.open(&run).await.len(), server.lines("count.txt")), (4, 0));

    let decision = json!({"option": "approve_session", "also": [second], "also_shown": [second, third]});
    let decided = server.decide(&open[0], &decision).await.ok();
    assert_eq!(decided["resolution"]["also"], json!([second]));
    let released = read(&server, second).await["resolution"].clone();
    assert_eq!(
        (&released["cause"], &released["by"], &released["option"]),
        (&json!("grant"), &decided["resolution"]["by"], &json!("approve"))
    );
    let made = server.events_of(&run, "decision_made").await;
    assert_eq!(made[0]["data"]["also"], json!([second]));
    assert_eq!(made[0]["data"]["also_shown"], json!([second, third]));
    assert_eq!(ids(&server.wait_open(&run, 2).await), [third, other]);
    // A repeated decision returns the existing resolution.
    assert_eq!(server.decide(&open[0], &decision).await.ok()["resolution"], decided["resolution"]);
    server.choose(&open[2], "approve").await;
    server.choose(&open[3], "reject").await;
    server.wait_status(&run, &["completed"]).await;
    assert_eq!(server.lines("count.txt"), 3);
}

/// After a refusal, a person is asked again about the same call, however it is spelled, until the refusal is revoked. A
/// grant for the same program covers only other calls.
#[tokio::test]
async fn a_refused_call_asks_again_after_a_grant() {
    let lines = ["touch A", "touch B", "touch C", "touch A", "touch ./A", "touch B; touch A"];
    let script = lines.map(|line| one(command(line))).into_iter().chain([done()]);
    let (_model, server) = solo(script.collect::<Vec<_>>()).await;
    let run = server.start_run("solo", "touch").await;
    server.choose(&server.wait_one(&run).await, "reject").await;
    let granting = server.wait_one(&run).await;
    let refused = granting["payload"]["grant"]["refused"].to_string();
    assert!(refused.contains("touch") && refused.contains("/A"), "{refused}");
    server.choose(&granting, "approve_session").await;
    for line in &lines[3..] {
        let asked = server.wait_one(&run).await;
        assert_eq!(asked["payload"]["arguments"]["command"], *line);
        let reason = &asked["risk"]["reasons"][0];
        assert_eq!((&reason["code"], &reason["source"]), (&json!("refused_before"), &json!("refusal")));
        server.choose(&asked, if *line == "touch A" { "approve" } else { "reject" }).await;
    }
    server.wait_status(&run, &["completed"]).await;
    assert!(server.workspace().join("A").exists() && server.workspace().join("C").exists());

    let session = server.run(&run).await["session"].clone();
    let path = format!("/v1/sessions/{}/refusals", session.as_str().unwrap());
    let refusals = server.get(&path).await.ok()["items"].as_array().unwrap().clone();
    assert_eq!(refusals.len(), 3, "each refusal is listed: {refusals:#?}");
    for refusal in &refusals {
        let one = format!("{path}/{}", refusal["interrupt"].as_str().unwrap());
        let agent = server.send(server.agent_request(Method::DELETE, &one)).await;
        assert_eq!(agent.status, 403);
        let revoked = server.send(server.request(Method::DELETE, &one)).await.ok();
        assert!(revoked["revoked_at"].is_string(), "{revoked:#}");
    }
    let next = start(&server, Some(&session)).await;
    server.wait_status(&next, &["completed"]).await;
    assert!(server.events_of(&next, "interrupt_opened").await.is_empty(), "the grant covers it again");
}
