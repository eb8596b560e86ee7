//! What a client wants done with its run: decide, pause, resume, cancel. Each is an input of the core; what comes of
//! it is told by the journal.

use holdshort_core::event;
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::interrupt::{About, Choice, Kind, Opened, Outcome};
use holdshort_core::plan;
use holdshort_core::run::{Fact, Input};
use holdshort_protocol::{Code, Decision};
use holdshort_store::Journal;
use serde_json::Value;

use super::frame::Resolve;
use super::words;
use crate::auth::Caller;
use crate::decide;
use crate::problem::{Answer, Refused};

/// Decides on an approval of this run. `Some`: it was decided on just so already, in this event.
pub(super) async fn resolve(caller: &Caller, run: &RunId, resolve: Resolve) -> Answer<Option<u64>> {
    let app = &caller.app;
    let unknown = || Refused::new(Code::NotFound, "there is no such approval in this task");
    let id: InterruptId = resolve.approval_id.parse().map_err(|_| unknown())?;
    let row = app.journal().interrupt(&id).await?.filter(|row| row.run == *run).ok_or_else(unknown)?;
    let first = app.event(&StreamId::Run(run.clone()), row.opened_seq).await?;
    let event::Fact::Run(Fact::InterruptOpened(opened)) = &first.fact else {
        return Err(Refused::of(Code::JournalDamaged));
    };
    let modified = resolve.modifications.clone();
    let decision = decision(opened, resolve)?;
    let option = decision.option.clone();
    let decided = decide::decide(app, &row, caller.actor.clone(), decision).await;
    decided.map_err(|refused| here(refused, opened, &option, &modified))?;
    Ok(row.resolved_seq)
}

/// The last event of the run after it.
pub(super) async fn steer(caller: &Caller, run: &RunId, input: Input) -> Answer<u64> {
    Ok(caller.app.send(run, input, caller.actor.clone()).await?.seq)
}

/// The decision that a client means.
fn decision(opened: &Opened, resolve: Resolve) -> Answer<Decision> {
    let Resolve { resolution, approved, feedback, user_feedback, modifications, .. } = resolve;
    let said = match (&resolution, approved) {
        (Some(said), _) => said.as_str(),
        (None, Some(true)) => "approve",
        (None, Some(false)) => "reject",
        (None, None) => return Err(Refused::invalid_at("/resolution", "say `resolution`, or `approved`")),
    };
    let Some(choice) = words::choose(opened, said) else {
        let offered = words::names(opened).join(", ");
        return Err(Refused::invalid_at(
            if resolution.is_some() { "/resolution" } else { "/approved" },
            format!("`{said}` is not offered here; choose one of: {offered}"),
        ));
    };
    // Clients send both; what they mean is what neither contradicts.
    let releases = choice.effect.outcome() == Outcome::Approved;
    if resolution.is_some() && approved == Some(true) && choice.stops() || approved == Some(false) && releases
    {
        return Err(Refused::invalid_at("/approved", format!("contradicts `{said}`")));
    }
    let text = match (feedback, user_feedback) {
        (Some(a), Some(b)) if a != b => {
            return Err(Refused::invalid_at("/user_feedback", "says something else than `feedback`"));
        }
        (a, b) => a.or(b).filter(|text| !text.is_empty()),
    };
    Ok(Decision {
        edit: edit(opened, choice, &modifications)?,
        option: choice.id.clone(),
        text,
        version: None,
    })
}

/// `modifications` as what they replace: a plan, arguments, or a text. An object, or JSON text of one.
fn edit(opened: &Opened, choice: &Choice, modifications: &Value) -> Answer<Value> {
    let is_nothing = match modifications {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    };
    if is_nothing {
        return Ok(Value::Null);
    }
    if choice.id != "edit" {
        let why = format!("`{}` takes no modifications", words::name(opened, &choice.id));
        return Err(Refused::invalid_at("/modifications", why));
    }
    let is_step = matches!(opened.about, About::BeforeStep(_));
    let replaces_text = is_step || opened.kind == Kind::Review;
    let value = match modifications {
        Value::String(text) => match holdshort_core::json::parse(text.as_bytes()) {
            Ok(value) if value.is_object() || !is_step => value,
            // `42` is a text like any other.
            Ok(_) => modifications.clone(),
            Err(_) if replaces_text => modifications.clone(),
            Err(error) => {
                return Err(Refused::invalid_at(
                    "/modifications",
                    format!("is a text that is no JSON: {error}"),
                ));
            }
        },
        other => other.clone(),
    };
    let field = |names: &[&str]| names.iter().find_map(|name| value.get(*name)).cloned();
    Ok(match opened.kind {
        // In whichever of its forms; what is none is named by the check.
        Kind::PlanApproval => plan::read(&value).unwrap_or(value),
        Kind::ToolApproval => field(&["arguments"]).unwrap_or(value),
        _ if replaces_text => {
            let text =
                field(&["text", "input", "task", "sub_task", "content", "instructions"]).unwrap_or(value);
            if is_step && !text.is_string() && !text.is_object() {
                let why = "is neither a text nor an object with one as its `sub_task`";
                return Err(Refused::invalid_at("/modifications", why));
            }
            text
        }
        _ => value,
    })
}

/// A place in a plan, as whoever sent it wrote it down.
fn in_a_plan(pointer: &str, modified: &Value) -> String {
    let Some(rest) = pointer.strip_prefix("/modifications/subtasks") else { return pointer.to_owned() };
    let sent = modified.get("plan").unwrap_or(modified);
    let below = if modified.get("plan").is_some() { "/plan" } else { "" };
    let list = ["sub_tasks", "subtasks", "steps"].iter().find(|name| sent.get(**name).is_some());
    let list = list.map(|name| format!("/{name}")).unwrap_or_default();
    let rest = rest.replace("/description", "/sub_task").replace("/agent", "/sub_task_agent");
    format!("/modifications{below}{list}{rest}")
}

/// A refusal with the places and options as this wire names them.
fn here(refused: Refused, opened: &Opened, option: &str, modified: &Value) -> Refused {
    let named = [("/option", "/resolution"), ("/text", "/feedback"), ("/edit", "/modifications")];
    refused.in_words(|error| {
        let rest = |native| error.pointer.strip_prefix(native);
        if let Some(there) = named.iter().find_map(|(native, wire)| Some(format!("{wire}{}", rest(native)?)))
        {
            error.pointer = there;
        }
        if matches!(opened.kind, Kind::PlanApproval | Kind::Checkpoint) {
            error.pointer = in_a_plan(&error.pointer, modified);
        }
        error.message =
            error.message.replace(&format!("`{option}`"), &format!("`{}`", words::name(opened, option)));
    })
}
