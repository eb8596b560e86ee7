//! Agents that ask questions in their replies, over the real binary (contract C8, E39).

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

const TEAM: &str = "
name: team
agents:
  metrics: {instructions: Look at the load., tools: [ask_human]}
  activity: {instructions: Look at the sessions., tools: [ask_human]}
  recovery: {instructions: Look at the nights., tools: [ask_human]}
  synthesis: {instructions: Sum up., tools: [ask_human]}
phases:
  - {id: metrics, kind: one_shot, agent: metrics}
  - {id: activity, kind: one_shot, agent: activity, needs: []}
  - {id: recovery, kind: one_shot, agent: recovery, needs: []}
  - {id: synthesis, kind: one_shot, agent: synthesis, needs: [metrics, activity, recovery]}
asking: {form: reply}
";

fn returns(questions: &Value) -> Scripted {
    Scripted::text(json!({ "questions": questions }).to_string())
}

fn question(id: &str, message: &str) -> Value {
    json!({ "id": id, "message": message, "context": "The data does not say." })
}

async fn server(workflow: &str) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    let server = TestServer::setup().workflow("team", workflow).model(&model).start().await;
    (model, server)
}

fn agent_and_question(interrupt: &Value) -> (&str, &str) {
    (interrupt["agent"].as_str().unwrap(), interrupt["payload"]["question"].as_str().unwrap())
}

async fn answer(server: &TestServer, open: &[Value], question: &str, text: &str) {
    let interrupt = open.iter().find(|each| agent_and_question(each).1 == question).expect("it is open");
    server.decide(interrupt, &json!({ "option": "answer", "text": text })).await.ok();
}

#[tokio::test]
async fn the_questions_of_a_stage_are_asked_together_and_only_the_askers_run_again() {
    let (model, mut server) = server(TEAM).await;
    model.script(
        "metrics",
        [returns(&json!([question("q1", "Were you ill?"), question("q2", "When?")])), Scripted::text("M.")],
    );
    model.script("activity", [Scripted::text("A.")]);
    model.script("recovery", [returns(&json!([question("q1", "How do you sleep?")])), Scripted::text("R.")]);
    model.script("synthesis", [Scripted::text(r#"{"content": "All is well."}"#)]);
    let run = server.start_run("team", "look").await;
    let open = server.wait_open(&run, 3).await;
    let mut shown: Vec<_> = open.iter().map(agent_and_question).collect();
    shown.sort_unstable();
    assert_eq!(
        shown,
        [("metrics", "Were you ill?"), ("metrics", "When?"), ("recovery", "How do you sleep?")]
    );
    assert_eq!(model.requests().len(), 3);
    let work = server.get(&format!("/v1/runs/{run}/work")).await.ok();
    let told = |part: &Value| (part["agent"].clone(), part["state"].clone(), part["waits_for"].clone());
    assert_eq!(
        work["items"].as_array().unwrap().iter().map(told).collect::<Vec<_>>(),
        [
            (json!("metrics"), json!("waiting_for_people"), Value::Null),
            (json!("recovery"), json!("waiting_for_people"), Value::Null),
            (json!("synthesis"), json!("waiting_for_phases"), json!(["metrics", "recovery"])),
        ]
    );

    // A restart between two answers does not repeat a question.
    answer(&server, &open, "How do you sleep?", "Badly.").await;
    server.wait_open(&run, 2).await;
    server.restart().await;
    answer(&server, &open, "When?", "In May.").await;
    server.restart().await;
    assert_eq!(server.wait_open(&run, 1).await.len(), 1);
    answer(&server, &open, "Were you ill?", "A week, \u{1b}[31mred\u{1b}[0m.").await;
    let ended = server.wait_status(&run, &["completed"]).await;
    let calls = ["metrics", "activity", "recovery", "synthesis"].map(|agent| model.requests_of(agent).len());
    assert_eq!(calls, [2, 1, 2, 1]);
    let heard = model.requests_of("metrics")[1].texts();
    let answers = heard.last().unwrap();
    assert!(answers.contains("Question q1: Were you ill?\nAnswer: A week, "), "{answers}");
    assert!(answers.contains("Question q2: When?\nAnswer: In May."), "{answers}");
    assert!(model.requests().iter().all(|request| !request.tools().contains(&"ask_human".to_owned())));
    assert_eq!(ended["result"]["text"], "All is well.");
    assert_eq!(ended["result"]["questions"].as_array().unwrap().len(), 3);
    assert_eq!(server.get("/v1/audit/verify").await.ok()["intact"], true);
}

#[tokio::test]
async fn a_malformed_form_is_told_once_and_then_a_person_is_asked() {
    let (model, server) = server(TEAM).await;
    let both = || Scripted::text(r#"{"questions": [{"id": "q1", "message": "Ill?"}], "content": "M."}"#);
    model.script("metrics", [both(), both(), Scripted::text("M.")]);
    for agent in ["activity", "recovery", "synthesis"] {
        model.script(agent, [Scripted::text("Done.")]);
    }
    let run = server.start_run("team", "look").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(
        (&asked["kind"], &asked["payload"]["flaw"]),
        (&json!("continuation"), &json!("malformed_questions"))
    );
    assert!(asked["message"].as_str().unwrap().contains("both `questions` and `content`"), "{asked}");
    server.choose(&asked, "continue").await;
    server.wait_status(&run, &["completed"]).await;
}

#[tokio::test]
async fn where_nobody_is_asked_the_reason_holds_the_questions() {
    let (model, server) = server(&TEAM.replace("form: reply", "form: reply, enabled: false")).await;
    let ill = || returns(&json!([question("q1", "Were you ill?")]));
    model.script("metrics", [ill(), ill()]);
    for agent in ["activity", "recovery", "synthesis"] {
        model.script(agent, [Scripted::text("Done.")]);
    }
    let run = server.start_run("team", "look").await;
    let ended = server.wait_status(&run, &["failed"]).await;
    assert_eq!(ended["end_reason"], "questions_unasked");
    assert!(ended["end_message"].as_str().unwrap_or_default().contains("Were you ill?"), "{ended}");
    assert!(server.events_of(&run, "interrupt_opened").await.is_empty());
}
