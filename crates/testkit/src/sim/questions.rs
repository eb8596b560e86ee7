//! Questions in a simulation. In its workflows, questions are collected, have time limits, wait, and are answered again
//! with earlier answers. Agents ask with a tool or in a reply, and people correct or erase answers.

use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::asking::{Asking, Deliver, Form, RECORD};
use holdshort_core::definition::{Definition, PhaseKind};
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::AnswerContent;
use holdshort_core::message::{Arguments, Reply, Request, RequestedCall};
use holdshort_core::run::{Input, Run};
use serde_json::{Value, json};

use super::choices::Choices;
use super::people::{SimRequest, someone};
use super::workflows;

/// Questions of simulated agents. There are only a few different ones, so that answers can be used again.
const QUESTIONS: [&str; 3] = ["Which?", "which  ?", "When was it?"];
const SUBJECTS: [&str; 2] = ["one", "other"];

/// Returns a workflow in which agents are allowed to ask people. In most of these workflows, the agents work in
/// parallel.
pub(super) fn workflow(choices: &mut Choices) -> Arc<Definition> {
    let base = match choices.below(4) {
        0 => workflows::team(choices),
        1 => workflows::planned(choices),
        _ => workflows::random(choices),
    };
    let mut definition = (*base).clone();
    let enabled = definition.asking.enabled;
    definition.asking = Asking {
        enabled,
        form: if choices.one_in(2) { Form::Reply } else { Form::Tool },
        deliver: if choices.one_in(3) { Deliver::AtOnce } else { Deliver::PerStage },
        timeout_ms: choices.one_in(3).then(|| 1_000 + choices.below(60_000) as u64),
        reuse_ms: choices.one_in(2).then(|| 1_000 + choices.below(300_000) as u64),
        pause_siblings: choices.one_in(3),
    };
    for phase in &mut definition.phases {
        if matches!(phase.kind, PhaseKind::OneShot { .. }) && !choices.one_in(4) {
            phase.needs = Vec::new();
        }
    }
    definition.settle_asking();
    Arc::new(definition)
}

pub(super) fn subject(choices: &mut Choices) -> Option<&'static str> {
    (!choices.one_in(6)).then(|| *choices.pick(&SUBJECTS))
}

/// Returns a reply in which a simulated agent asks, in the form that the request to the model allows. Returns `None` if
/// the agent does not ask.
pub(super) fn asking_reply(request: &Request, choices: &mut Choices) -> Option<Reply> {
    let reply =
        |text: String, calls| Reply { text, calls, model: "simulated".to_owned(), ..Reply::default() };
    let offers = |name: &str| request.tools.iter().any(|tool| tool.name == name);
    if offers(RECORD) && choices.one_in(2) {
        let arguments = Arguments::Json(json!({ "assumption": "It was the left one." }));
        return Some(reply(String::new(), vec![RequestedCall { tool: RECORD.to_owned(), arguments }]));
    }
    if !choices.one_in(3) {
        return None;
    }
    if offers("ask_human") {
        let ask = |question: &&str| RequestedCall {
            tool: "ask_human".to_owned(),
            arguments: Arguments::Json(json!({ "question": question })),
        };
        let calls = (0..=choices.below(2)).map(|_| ask(choices.pick(&QUESTIONS))).collect();
        return Some(reply(String::new(), calls));
    }
    // Some agents ask in a reply although they were not told how to ask.
    let told =
        request.messages.first().is_some_and(|first| json!(first).to_string().contains("To ask a person"));
    if !told && !choices.one_in(3) {
        return None;
    }
    let question = |n: usize, choices: &mut Choices| json!({ "id": format!("q{n}"), "message": choices.pick(&QUESTIONS) });
    let questions: Vec<Value> = (0..=choices.below(2)).map(|n| question(n, choices)).collect();
    let text = match choices.below(8) {
        0 => json!({ "questions": questions, "content": "Done." }),
        1 => json!({ "questions": [] }),
        2 => json!({ "questions": [{ "id": "q", "message": "Which?" }, { "id": "q", "message": "When?" }] }),
        3 => json!({ "content": "Done." }),
        _ => json!({ "questions": questions }),
    };
    Some(reply(text.to_string(), Vec::new()))
}

/// Returns a request that corrects or erases an answer to a question of a run.
pub(super) fn amended(run: &Run, choices: &mut Choices) -> Option<SimRequest> {
    let answered: Vec<&InterruptId> =
        run.interrupts.iter().filter(|(_, each)| each.was_answered()).map(|(id, _)| id).collect();
    let interrupt = (!answered.is_empty()).then(|| (*choices.pick(&answered)).clone())?;
    let input = if choices.one_in(2) {
        Input::EraseAnswer { interrupt }
    } else {
        let given = AnswerContent { text: Some("The right one.".to_owned()), edit: Value::Null };
        Input::CorrectAnswer { interrupt, given }
    };
    Some(SimRequest::Amend { run: run.id.clone(), input: Box::new(input), actor: amending_actor() })
}

fn amending_actor() -> Actor {
    someone("alice")
}

/// Returns the interrupt whose answer the input corrects or erases.
pub(super) fn amended_interrupt(input: &Input) -> Option<&InterruptId> {
    match input {
        Input::EraseAnswer { interrupt } | Input::CorrectAnswer { interrupt, .. } => Some(interrupt),
        _ => None,
    }
}

pub(super) fn describe_amendment(run: &RunId, input: &Input) -> String {
    let what = if matches!(input, Input::EraseAnswer { .. }) { "erases" } else { "corrects" };
    let of = amended_interrupt(input).map(|id| super::history::short(id.as_str())).unwrap_or_default();
    format!("alice {what} the answer to {of} of {}", super::history::short(run.as_str()))
}
