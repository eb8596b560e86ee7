//! Two scenarios of a copilot. The server is aborted after each commit, one commit per play, and is started again. No
//! command runs twice, no question is asked twice, and the scenario ends as it does without an abort.
//!
//! These tests are campaigns of `cargo xtask verify --long`. In the short run, `matrix.rs` and `halves.rs` abort
//! different scenarios.

use std::fs;

use holdshort_testkit::model::{Scripted, ScriptedModel};
use holdshort_testkit::server::{Setup, TestServer, aborting};
use reqwest::Method;
use serde_json::{Value, json};

use crate::aborts::{StoryProgress, play_each, play_until_over};
use crate::demo::{ABORT_AFTER, accounted};
use crate::play::{command, count, one, read, write};
use crate::routed::WORKFLOW;

/// Scenario of a copilot that is played repeatedly, with an abort of the server at a different point each time.
#[derive(Clone, Copy)]
struct Story {
    workflow: &'static str,
    task: &'static str,
    /// Adds the model's replies of the scenario and prepares the workspace.
    stage: fn(&ScriptedModel) -> Setup,
    /// Returns the decision that a person makes on an interrupt of the scenario.
    decide: fn(&Value) -> Value,
}

/// Flow 1 of contract A26 as a scenario, on the shipped workflow.
const FLOW_1: Story = Story {
    workflow: "copilot",
    task: "Improve the list.",
    stage: |model| {
        let question = json!({"question": "Sorted how?", "choices": ["by name", "by length"]});
        model.script(
            "copilot",
            [
                one(read("names.txt")),
                one(("ask_user", question)),
                one(("invoke_planning_phase", json!({"task": "sort names.txt by length", "max_steps": 3}))),
                one(write("names.txt", "al\nbea\ncarla\n")),
                one(count("one")),
                one(command("cat names.txt")),
                Scripted::text("names.txt is sorted by length."),
            ],
        );
        let plan = json!({"subtasks": [{"id": "sort", "description": "Sort names.txt", "agent": "copilot"}]});
        model.script("planner", [Scripted::text(plan.to_string())]);
        TestServer::setup().model(model)
    },
    decide: |asked| match asked["kind"].as_str() {
        Some("question") => json!({"option": "answer", "text": "by length"}),
        Some("turn") => json!({"option": "done"}),
        Some("plan_approval" | "tool_approval") => json!({"option": "approve"}),
        _ => panic!("nobody expects this to be asked: {asked:#}"),
    },
};

/// Scenario with a router's choice, a handoff there and back within one round, a new task that needs clarification, and
/// a second round.
const ROUTED: Story = Story {
    workflow: "helper",
    task: "Rework the list.",
    stage: |model| {
        let ways = json!({"route_type": "propose", "proposals": [{"title": "Quick"}, {"title": "Thorough"}]});
        let unclear = json!({"route_type": "clarify", "clarifying_questions": ["In which order?"]});
        let clear = json!({"route_type": "direct", "complexity": 20, "refined_task": "Sort it by length."});
        model.when(
            "router",
            [("by length", clear), ("the other list", unclear), ("Rework", ways)]
                .map(|(words, answer)| (words, Scripted::text(answer.to_string()))),
        );
        let unused = || Scripted::status(400);
        model.script(
            "pair",
            [
                one(("handoff_to_writer", json!({"message": "yours"}))),
                unused(),
                unused(),
                Scripted::text("One."),
                one(count("two")),
                Scripted::text("Two."),
            ],
        );
        let back = one(("handoff_to_pair", json!({"message": "written"})));
        model.script("writer", [unused(), one(count("one")), back]);
        TestServer::setup().workflow("helper", WORKFLOW).model(model)
    },
    decide: |asked| match (asked["kind"].as_str(), asked["payload"]["round"].as_u64()) {
        (Some("choice"), _) => json!({"option": "option_2", "text": "with care"}),
        (Some("question"), _) => json!({"option": "answer", "text": "by length"}),
        (Some("turn"), Some(1)) => json!({"option": "new_task", "text": "Now the other list."}),
        (Some("turn"), _) => json!({"option": "done"}),
        _ => panic!("nobody expects this to be asked: {asked:#}"),
    },
};

/// Decides about a command that was running when the server was aborted. Checks, like a person, whether the command has
/// done its work.
fn look_whether_it_ran(server: &TestServer, asked: &Value) -> Value {
    let counted = fs::read_to_string(server.workspace().join("count.txt")).unwrap_or_default();
    let line = asked["payload"].to_string();
    let ran =
        ["one", "two"].iter().any(|word| line.contains(&format!("echo {word}")) && counted.contains(word));
    if ran { json!({"option": "happened", "text": "It is counted."}) } else { json!({"option": "rerun"}) }
}

/// Performs one step of the scenario: reads the run and decides its interrupts. Returns true if the run has ended, or
/// `None` if the server did not respond.
async fn look(server: &TestServer, story: Story, run: &mut Option<String>) -> Option<bool> {
    let Some(id) = run else {
        let body = server.run_body(story.workflow, story.task);
        let request = server.request(Method::POST, "/v1/runs").header("idempotency-key", "it").json(&body);
        *run = Some(server.try_send(request).await?.ok()["id"].as_str().unwrap().to_owned());
        return Some(false);
    };
    let at = server.try_send(server.request(Method::GET, &format!("/v1/runs/{id}"))).await?.ok();
    if ["completed", "failed", "cancelled"].iter().any(|status| at["status"] == **status) {
        return Some(true);
    }
    for open in at["open_interrupts"].as_array().unwrap() {
        let path = format!("/v1/interrupts/{}", open.as_str().unwrap());
        let asked = server.try_send(server.request(Method::GET, &path)).await?.ok();
        let decision = match asked["kind"].as_str() {
            Some("unknown_outcome") => look_whether_it_ran(server, &asked),
            _ => (story.decide)(&asked),
        };
        let request = server.request(Method::POST, &format!("{path}/decisions")).json(&decision);
        let answer = server.try_send(request).await?;
        assert!(matches!(answer.status, 200 | 409), "{answer:#?}");
    }
    Some(false)
}

/// Returns the events of a run, without the questions about unknown outcomes that only an abort of the server causes.
async fn collect_story(server: &TestServer, run: &str) -> Vec<String> {
    let events = server.events(run).await;
    let text = |event: &Value, key: &str| event["data"][key].as_str().unwrap_or_default().to_owned();
    let doubts: Vec<Value> = events
        .iter()
        .filter(|event| event["type"] == "interrupt_opened" && event["data"]["kind"] == "unknown_outcome")
        .map(|event| event["data"]["interrupt"].clone())
        .collect();
    let line = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        if doubts.contains(&event["data"]["interrupt"]) {
            return None;
        }
        let key = match kind {
            "step_started" | "step_ended" => "step",
            "interrupt_opened" => "kind",
            "interrupt_resolved" => "option",
            "task_routed" => "route",
            "handed_over" => "to",
            "phase_called" | "plan_settled" | "task_extended" | "round_wanted" | "rounds_over"
            | "run_completed" | "run_failed" => "phase",
            _ => return None,
        };
        Some(format!("{kind} {}", text(event, key)))
    };
    events.iter().filter_map(line).collect()
}

/// Removes the ids and timestamps of questions from a run's result, because they differ from run to run.
fn timeless(mut result: Value) -> Value {
    for question in result["questions"].as_array_mut().into_iter().flatten() {
        for key in ["interrupt", "at"] {
            question[key] = Value::Null;
        }
    }
    result
}

#[derive(Debug, PartialEq)]
struct End {
    story: Vec<String>,
    result: Value,
    files: Vec<Option<String>>,
}

/// Plays the scenario with an abort of the server after commit number `n`, or without an abort if `n` is 0. Returns the
/// end of the run, and whether the abort happened.
async fn play(story: Story, n: usize) -> (End, bool) {
    let what = format!("{}: abort after commit {n}", story.workflow);
    let model = ScriptedModel::start().await;
    let setup = (story.stage)(&model).program(aborting()).env(ABORT_AFTER, &n.to_string());
    let mut server = setup.stopped();
    fs::write(server.workspace().join("names.txt"), "carla\nal\nbea\n").unwrap();
    server.start().await;
    let mut run = None;
    let look = async |server: &TestServer| StoryProgress::from_answer(look(server, story, &mut run).await);
    let aborted = play_until_over(&mut server, ABORT_AFTER, &what, look).await;
    let run = run.unwrap();
    accounted(&server, &run, &what).await;
    let at = server.run(&run).await;
    assert_eq!(at["status"], "completed", "{what}: {at:#}");
    let file = |name| fs::read_to_string(server.workspace().join(name)).ok();
    let end = End {
        story: collect_story(&server, &run).await,
        result: timeless(at["result"].clone()),
        files: vec![file("names.txt"), file("count.txt")],
    };
    (end, aborted)
}

/// Plays the scenario once per commit, with an abort of the server after that commit. Returns the number of aborts that
/// happened.
async fn abort_after_each(story: Story) -> usize {
    const ENDLESS: usize = 500;
    let wanted = play(story, 0).await.0;
    let aborted = play_each(1..ENDLESS, async |n| {
        let (end, aborted) = play(story, n).await;
        assert_eq!(end, wanted, "{}: abort after commit {n}", story.workflow);
        aborted
    });
    let commits = aborted.await;
    assert!(commits < ENDLESS - 1, "the run has no end");
    commits
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a campaign: cargo xtask verify --long"]
async fn campaign_of_aborts_after_each_commit() {
    for story in [FLOW_1, ROUTED] {
        assert!(abort_after_each(story).await >= 12);
    }
}
