//! The replies that simulated models give: texts, parallel calls, questions, nonsense, errors. With choice 0, the reply
//! is a text that ends the work.

use holdshort_core::handoff::FINISH;
use holdshort_core::message::{Arguments, Failure, FailureKind, Reply, Request, RequestedCall, Stop, Usage};
use holdshort_core::run::Input;
use serde_json::{Value, json};

use super::choices::Choices;
use super::copilots;
use super::questions;
use super::workflows::PLANNER;
use super::world::World;

pub(super) const PATHS: [&str; 4] = ["a", "b", "linked", "../out"];
pub(super) const COMMANDS: [&str; 5] = ["make x", "git push origin", "rm old", "ls", "make $X"];
const FAILURES: [FailureKind; 5] = [
    FailureKind::Unavailable,
    FailureKind::RateLimited,
    FailureKind::TimedOut,
    FailureKind::Rejected,
    FailureKind::TooLong,
];

pub(super) fn answer(
    step: &str,
    turn: u32,
    request: &Request,
    world: &mut World,
    choices: &mut Choices,
) -> Input {
    let step = step.to_owned();
    if request.agent == copilots::ROUTER {
        return copilots::routed(step, turn, choices);
    }
    if request.agent == PLANNER && !choices.one_in(4) {
        let reply = Reply { text: plan(choices), model: "simulated".to_owned(), ..Reply::default() };
        return Input::Replied { step, turn, reply };
    }
    if request.response_schema.is_some() {
        let text = choices.pick(&JUDGEMENTS);
        let reply = Reply { text: (*text).to_owned(), model: "simulated".to_owned(), ..Reply::default() };
        return Input::Replied { step, turn, reply };
    }
    let is_team = request.tools.iter().any(|tool| tool.name.starts_with("client_"));
    if is_team && choices.one_in(2) {
        let calls = (0..=choices.below(3)).map(|_| call_of_a_team(request, world, choices)).collect();
        let text = "I hand it on.".to_owned();
        let reply = Reply { text, calls, model: "simulated".to_owned(), ..Reply::default() };
        return Input::Replied { step, turn, reply };
    }
    // In a long conversation, the model neither asks nor begins phases: a longer conversation would test nothing new.
    let is_long = request.messages.len() > 24;
    if world.plays_questions
        && !is_long
        && let Some(reply) = questions::asking_reply(request, choices)
    {
        return Input::Replied { step, turn, reply };
    }
    let begins_phases = copilots::begins_phases(request);
    if begins_phases && !is_long && choices.one_in(3) {
        let mut calls: Vec<RequestedCall> =
            (0..=choices.below(2)).map(|_| copilots::call(request, choices)).collect();
        if choices.one_in(3) {
            calls.push(call(world, choices));
        }
        let reply = Reply { calls, model: "simulated".to_owned(), ..Reply::default() };
        return Input::Replied { step, turn, reply };
    }
    if world.plays_endings && choices.one_in(6) {
        let reply = broken_off(world, choices);
        return Input::Replied { step, turn, reply };
    }
    let ends_by_tool = request.tools.iter().any(|tool| tool.name == FINISH);
    if ends_by_tool && choices.one_in(4) {
        let calls = finishing(world, choices);
        let reply = Reply { calls, model: "simulated".to_owned(), ..Reply::default() };
        return Input::Replied { step, turn, reply };
    }
    let ends = is_long || (begins_phases && choices.one_in(3));
    let (text, calls) = match choices.below(if ends { 1 } else { 16 }) {
        0 if ends_by_tool => ("Done.", vec![finish("It is done.", &[])]),
        0 => ("Done.", Vec::new()),
        1 => ("Which one?", Vec::new()),
        2 => ("", Vec::new()),
        3 | 4 => {
            let kind = *choices.pick(&FAILURES);
            let retry_after_ms = choices.one_in(3).then_some(3_000);
            let failure = Failure { kind, retry_after_ms, message: "simulated".to_owned() };
            return Input::Failed { step, turn, failure };
        }
        5..=7 => ("Several.", (0..=choices.below(4)).map(|_| call(world, choices)).collect()),
        _ => ("One.", vec![call(world, choices)]),
    };
    let usage = Usage { input_tokens: 10, output_tokens: 5 };
    let reply =
        Reply { text: text.to_owned(), calls, usage, model: "simulated".to_owned(), ..Reply::default() };
    Input::Replied { step, turn, reply }
}

/// Returns a reply of a simulated model that breaks off. The reply may contain a tool call.
fn broken_off(world: &mut World, choices: &mut Choices) -> Reply {
    let calls = if choices.one_in(2) { vec![call(world, choices)] } else { Vec::new() };
    let stop = if choices.one_in(2) { Stop::Filtered } else { Stop::Cut };
    Reply { text: "Half a".to_owned(), calls, stop, model: "simulated".to_owned(), ..Reply::default() }
}

/// Returns calls by which a simulated agent ends its work. Some of them are wrong: a second end, an empty summary, a
/// list of unfinished work, or another call in the same reply.
fn finishing(world: &mut World, choices: &mut Choices) -> Vec<RequestedCall> {
    let mut calls = Vec::new();
    for _ in 0..=usize::from(choices.one_in(6)) {
        let summary = if choices.one_in(8) { " " } else { "It is done." };
        let undone: &[&str] = if choices.one_in(3) { &["one thing"] } else { &[] };
        calls.push(finish(summary, undone));
    }
    if choices.one_in(4) {
        calls.insert(choices.below(calls.len() + 1), call(world, choices));
    }
    calls
}

fn finish(summary: &str, undone: &[&str]) -> RequestedCall {
    let arguments = Arguments::Json(json!({ "summary": summary, "undone": undone }));
    RequestedCall { tool: FINISH.to_owned(), arguments }
}

const JUDGEMENTS: [&str; 4] = [
    r#"{"escalate": false, "reasons": []}"#,
    r#"{"escalate": false, "reasons": []}"#,
    r#"{"escalate": true, "reasons": ["it guesses"]}"#,
    "I cannot say.",
];

/// Returns a call of a tool that exists only in workflows with a team, or of another tool.
fn call_of_a_team(request: &Request, world: &mut World, choices: &mut Choices) -> RequestedCall {
    let own: Vec<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .filter(|tool| tool.starts_with("client_") || tool.starts_with("handoff_to_"))
        .collect();
    if choices.one_in(4) {
        return call(world, choices);
    }
    let tool = (*choices.pick(&own)).to_owned();
    let arguments = if tool.starts_with("client_") { json!({ "n": choices.below(3) }) } else { json!({}) };
    RequestedCall { tool, arguments: Arguments::Json(arguments) }
}

/// Returns a plan that consists of a few subtasks. Some of these plans are impossible to carry out.
fn plan(choices: &mut Choices) -> String {
    let subtasks: Vec<Value> = (0..=choices.below(4))
        .map(|n| {
            let needs: Vec<String> =
                (0..n).filter(|_| choices.one_in(3)).map(|need| format!("s{need}")).collect();
            json!({ "id": format!("s{n}"), "description": "do", "depends_on": needs })
        })
        .collect();
    match choices.below(8) {
        7 => json!([{ "id": "a", "description": "do", "depends_on": ["a"] }]).to_string(),
        _ => json!({ "subtasks": subtasks }).to_string(),
    }
}

fn call(world: &mut World, choices: &mut Choices) -> RequestedCall {
    let (tool, arguments) = match choices.below(14) {
        0..=1 => ("read_file", json!({ "path": choices.pick(&PATHS) })),
        2..=5 => ("write_file", write(world, choices)),
        6..=9 if world.plays_trials && !choices.one_in(3) => {
            ("run_command", json!({ "command": world.writing(choices) }))
        }
        6..=9 => ("run_command", json!({ "command": choices.pick(&COMMANDS) })),
        10 => ("ask_human", json!({ "question": "Which?" })),
        11 => ("create_plan", json!({ "subtasks": [{ "id": "1", "description": "do" }] })),
        12 => ("request_review", json!({ "title": "t", "content": "c" })),
        _ => return nonsense(choices),
    };
    RequestedCall { tool: tool.to_owned(), arguments: Arguments::Json(arguments) }
}

pub(super) fn write(world: &mut World, choices: &mut Choices) -> Value {
    json!({ "path": choices.pick(&PATHS), "content": world.text() })
}

fn nonsense(choices: &mut Choices) -> RequestedCall {
    let (tool, arguments) = match choices.below(4) {
        0 => ("no_such_tool", Arguments::Json(json!({ "n": u64::MAX }))),
        1 => ("write_file", Arguments::Json(json!({ "path": 7 }))),
        2 => ("run_command", Arguments::Malformed("{".to_owned())),
        _ => ("create_plan", Arguments::Json(json!({ "subtasks": [] }))),
    };
    RequestedCall { tool: tool.to_owned(), arguments }
}
