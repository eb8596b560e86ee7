//! A copilot whose router replies, over the real binary: the effect of each route, the model requests of the agents,
//! and the events about an invalid reply.

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::TestServer;
use serde_json::{Value, json};

/// Workflow with a router, a team, several rounds, and checkpoints around tasks that are not simple.
pub(crate) const WORKFLOW: &str = "
name: helper
agents:
  pair: {instructions: Do what the person asks for., tools: [read_file, run_command], handoffs: [writer]}
  writer: {instructions: Write., tools: [run_command], handoffs: [pair]}
  router: {instructions: You decide how a task is done.}
phases:
  - {id: work, kind: copilot, agent: pair, routing: balanced, router: router, team: [writer], conversational: true}
gates: {rules: [{tools: [read_file, run_command], do: allow}]}
";

/// Returns the copilot's workflow with a single round, after which the run ends.
pub(crate) fn once() -> String {
    WORKFLOW.replace(", conversational: true", "")
}

/// Starts a server whose router gives these replies in order, and whose agents reply that they are done.
async fn routed(workflow: &str, answers: &[Value]) -> (ScriptedModel, TestServer) {
    let model = ScriptedModel::start().await;
    for answer in answers {
        let text = answer.as_str().map_or_else(|| answer.to_string(), str::to_owned);
        model.push("router", Scripted::text(text));
    }
    for agent in ["pair", "writer"] {
        model.script(agent, [Scripted::text("Done.").repeat()]);
    }
    let server = TestServer::setup().workflow("helper", workflow).model(&model).start().await;
    (model, server)
}

fn first_request_text(model: &ScriptedModel, agent: &str) -> String {
    model.requests_of(agent).first().unwrap_or_else(|| panic!("`{agent}` was not asked")).texts().join("\n")
}

/// Returns each routing of the run in the journal, as route, router, complexity, and reason.
async fn routings(server: &TestServer, run: &str) -> Vec<(String, String, Option<u64>, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let routed = server.events_of(run, "task_routed").await;
    routed
        .iter()
        .map(|event| &event["data"])
        .map(|data| {
            (
                text(&data["route"]),
                text(&data["by"]),
                data["complexity"].as_u64(),
                text(&data["content"]["text"]),
            )
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_direct_route_says_who_begins_and_how_the_task_is_understood() {
    let route = json!({
        "route_type": "direct", "complexity": 40, "primary_agent": "writer",
        "refined_task": "Sort names.txt by length.", "reasoning": "It is one file.",
    });
    let (model, server) = routed(&once(), &[route]).await;
    let run = server.start_run("helper", "Sort the names.").await;
    server.wait_status(&run, &["completed"]).await;
    assert!(model.requests_of("pair").is_empty(), "the one who was named begins");
    let asked = first_request_text(&model, "writer");
    // The refined task does not replace the original task. The agent receives both.
    assert!(asked.contains("Sort the names.") && asked.contains("Sort names.txt by length."), "{asked}");
    assert!(!asked.contains("a plan helps"), "{asked}");
    let router = &model.requests_of("router")[0];
    assert_eq!(router.tools(), Vec::<String>::new());
    assert!(router.texts().join("\n").contains("Sort the names."));
    let why = ("direct".to_owned(), "router".to_owned(), Some(40), "It is one file.".to_owned());
    assert_eq!(routings(&server, &run).await, [why]);
    assert!(server.events_of(&run, "interrupt_opened").await.is_empty());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_complex_task_is_told_that_a_plan_helps() {
    let table = [
        (json!({"route_type": "plan"}), true),
        (json!({"route_type": "planned", "complexity": 10}), true),
        (json!({"route_type": "direct", "complexity": 61}), true),
        (json!({"route_type": "direct", "complexity": 60}), false),
    ];
    for (route, helps) in table {
        let (model, server) = routed(&once(), std::slice::from_ref(&route)).await;
        let run = server.start_run("helper", "Rework the importer.").await;
        server.wait_status(&run, &["completed"]).await;
        assert_eq!(first_request_text(&model, "pair").contains("a plan helps"), helps, "{route}");
    }
}

/// A task with a complexity of at most 30 has no step checkpoint.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_simple_is_not_held_at_a_step_checkpoint() {
    let gated =
        once().replace("team: [writer]", "team: [writer], simple_words: 1, gates: {before_step: ask}");
    for (complexity, expected) in [(30, "completed"), (31, "waiting")] {
        let route = json!({"route_type": "direct", "complexity": complexity});
        let (_model, server) = routed(&gated, &[route]).await;
        let run = server.start_run("helper", "Sort the names of the list.").await;
        server.wait_status(&run, &[expected]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_clarification_asks_the_routers_questions_once() {
    let unclear =
        |question: &str| json!({"route_type": "clarify", "clarifying_questions": [question, "By when?"]});
    let (model, server) = routed(&once(), &[unclear("Which list?"), unclear("Which one exactly?")]).await;
    let run = server.start_run("helper", "Sort the list.").await;
    let asked = server.wait_one(&run).await;
    assert_eq!(
        (&asked["kind"], &asked["payload"]["questions"]),
        (&json!("question"), &json!(["Which list?", "By when?"]))
    );
    assert!(model.requests_of("pair").is_empty(), "nobody works before the answer");
    server.decide(&asked, &json!({"option": "answer", "text": "names.txt, today"})).await.ok();
    server.wait_status(&run, &["completed"]).await;
    // The router is called again with the person's answer, but the person is asked only once.
    let again = model.requests_of("router")[1].texts().join("\n");
    assert!(again.contains("names.txt, today"), "{again}");
    let begun = first_request_text(&model, "pair");
    assert!(begun.contains("Sort the list.") && begun.contains("names.txt, today"), "{begun}");
    let routes: Vec<String> = routings(&server, &run)
        .await
        .into_iter()
        .map(|(route, by, _, _)| format!("{route} by {by}"))
        .collect();
    assert_eq!(routes, ["clarify by router", "direct by router"]);
    assert_eq!(server.events_of(&run, "interrupt_opened").await.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_chooses_one_of_the_ways_or_their_own() {
    let proposals = json!([
        {"title": "In place", "description": "One pass.", "pros": ["fast"], "cons": ["no way back"]},
        {"title": "A copy", "description": "Two files.", "pros": ["safe"], "cons": ["slow"]},
    ]);
    let table = [
        (json!({"option": "option_2"}), "chose this approach: A copy. Two files."),
        (json!({"option": "option_1", "text": "with a log"}), "The person adds: with a log"),
        (json!({"option": "custom", "text": "by hand"}), "described a different approach: by hand"),
    ];
    for (decision, expected) in table {
        let route = json!({"route_type": "propose", "complexity": 50, "proposals": proposals});
        let (model, server) = routed(&once(), &[route]).await;
        let run = server.start_run("helper", "Rework the list.").await;
        let asked = server.wait_one(&run).await;
        assert_eq!((&asked["kind"], &asked["payload"]["proposals"]), (&json!("choice"), &proposals));
        let options: Vec<&Value> =
            asked["options"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
        assert_eq!(options, ["option_1", "option_2", "custom"]);
        for refused in [json!({"option": "option_9"}), json!({"option": "custom"})] {
            assert_eq!(server.decide(&asked, &refused).await.status, 422, "{refused}");
        }
        assert!(model.requests_of("pair").is_empty(), "nobody works before the choice");
        server.decide(&asked, &decision).await.ok();
        server.wait_status(&run, &["completed"]).await;
        let begun = first_request_text(&model, "pair");
        assert!(begun.contains("Rework the list.") && begun.contains(expected), "{decision}: {begun}");
        assert_eq!(model.requests_of("router").len(), 1, "a choice is not routed again");
    }
}

/// If the router's reply is not a valid route, rules route the task. The journal records the reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_take_the_place_of_a_router_that_talks_nonsense() {
    let nonsense = [
        json!("I would rather write a poem."),
        json!({"route_type": "ponder", "complexity": 20}),
        json!({"route_type": "direct", "complexity": 900}),
        json!("{\"route_type\": \"direct\""),
    ];
    for answer in nonsense {
        let (model, server) = routed(&once(), &[answer.clone(), answer.clone()]).await;
        let run = server.start_run("helper", "write code").await;
        let asked = server.wait_one(&run).await;
        assert_eq!(asked["payload"]["questions"][0], "What should this code do?", "{answer}");
        server.decide(&asked, &json!({"option": "answer", "text": "sort names.txt"})).await.ok();
        let ended = server.wait_status(&run, &["completed"]).await;
        assert_eq!(ended["end_reason"], "done", "what only helps is no part of the work");
        assert!(first_request_text(&model, "pair").contains("sort names.txt"));
        let routings = routings(&server, &run).await;
        let by: Vec<(&str, &str)> =
            routings.iter().map(|(route, by, _, _)| (route.as_str(), by.as_str())).collect();
        assert_eq!(by, [("clarify", "rules"), ("direct", "rules")], "{answer}");
        let why = "the router gave no usable answer (its answer cannot be read): the task names no purpose \
                   (`write code`)";
        assert_eq!(routings[0].3, why);
    }
}
