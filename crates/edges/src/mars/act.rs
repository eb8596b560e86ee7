//! Carries out a client's commands for a run: decide, pause, resume, cancel. Each command becomes an input of the core.
//! The frames that report the effects of a command are derived from the journal.

use holdshort_core::event;
use holdshort_core::id::{InterruptId, RunId, StreamId};
use holdshort_core::interrupt::{About, Kind, Offer, Opened, Outcome};
use holdshort_core::plan::Subtask;
use holdshort_core::run::{Fact, Input};
use holdshort_protocol::{Code, Decision, plain};
use holdshort_store::Tables;
use holdshort_web::app::detached;
use holdshort_web::auth::Caller;
use holdshort_web::decide;
use holdshort_web::problem::{Answer, Refused};
use serde_json::Value;

use super::edit::Edit;
use super::frame::Resolve;
use super::options::{self, ChosenOption};
use crate::limits::MARS_PROMPT_CHARS;

/// Id of the option of an interrupt with which a person edits a call or a plan.
const EDIT: &str = "edit";

/// Decides on an approval request of this run. If the same decision was already recorded, returns the id of the
/// request.
pub(super) async fn resolve(caller: &Caller, run: &RunId, resolve: Resolve) -> Answer<Option<InterruptId>> {
    let app = &caller.app;
    let unknown = || Refused::new(Code::NotFound, "this task has no approval with this `approval_id`");
    let id: InterruptId = resolve.approval_id.parse().map_err(|_| unknown())?;
    let row = app.journal().interrupt(&id).await?.filter(|row| row.run == *run).ok_or_else(unknown)?;
    let first = app.event(&StreamId::Run(run.clone()), row.opened_seq).await?;
    let event::Fact::Run(Fact::InterruptOpened(opened)) = &first.fact else {
        return Err(Refused::from_code(Code::JournalDamaged));
    };
    let sent = Some(&resolve.modifications).filter(|sent| !is_nothing(sent));
    let was_resolved = row.resolved_seq.is_some();
    let (offer, text) = chosen(opened, &resolve, sent.is_some())?;
    let edit = match sent {
        None => Edit::default(),
        Some(_) if offer.id != EDIT => {
            let why = format!(
                "cannot be sent with the option `{}`: choose the option for edits, or omit them",
                options::name(opened, &offer.id)
            );
            return Err(Refused::invalid_at("/modifications", why));
        }
        Some(sent) => Edit::read(opened, subtask(caller, run, opened).await?.as_ref(), sent)?,
    };
    let decision =
        Decision { option: offer.id.clone(), text, edit: edit.value.clone(), ..Decision::default() };
    caller.count_decision()?;
    let decided = decide::decide(app, &row.into(), caller.actor.clone(), decision).await;
    decided.map_err(|refused| here(refused, opened, offer, &edit))?;
    Ok(was_resolved.then_some(id))
}

/// Sends an input (such as a pause) to a run. Returns true if the input changed the run.
pub(super) async fn steer(caller: &Caller, run: &RunId, input: Input) -> Answer<bool> {
    let (driver, run, actor) = (caller.app.driver.clone(), run.clone(), caller.actor.clone());
    match detached(async move { driver.change(&run, input, actor).await }).await {
        Ok(changed) => Ok(changed),
        // Only a cancellation has a `text`: its reason.
        Err(error) => Err(Refused::from(error).map_field_errors(|error| {
            if error.pointer == "/text" {
                "/reason".clone_into(&mut error.pointer);
            }
        })),
    }
}

/// Returns the subtask whose start an interrupt asks a person to approve. Returns `None` for any other interrupt.
async fn subtask(caller: &Caller, run: &RunId, opened: &Opened) -> Answer<Option<Subtask>> {
    let About::BeforeStep(step) = &opened.about else { return Ok(None) };
    let run = caller.app.driver.load(run).await?;
    Ok(run.part(step).map(|part| part.subtask.clone()))
}

fn is_nothing(modifications: &Value) -> bool {
    match modifications {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    }
}

/// Returns the option of an interrupt that the client chose, and the text that the client sent with the option.
fn chosen<'o>(opened: &'o Opened, resolve: &Resolve, has_edit: bool) -> Answer<(&'o Offer, Option<String>)> {
    let Resolve { resolution, approved, feedback, user_feedback, .. } = resolve;
    let said = match (resolution, approved) {
        (Some(said), _) => said.as_str(),
        (None, Some(true)) => "approve",
        (None, Some(false)) => "reject",
        (None, None) => {
            return Err(Refused::invalid_at("/resolution", "is missing: send `resolution` or `approved`"));
        }
    };
    let Some(ChosenOption { offer, is_own_words }) = options::choose(opened, said) else {
        let offered = options::names(opened).join(", ");
        let said: String = plain::line(said).chars().take(MARS_PROMPT_CHARS).collect();
        return Err(Refused::invalid_at(
            if resolution.is_some() { "/resolution" } else { "/approved" },
            format!(
                "`{said}` is not offered here; choose one of: {offered}. Send your own words as `feedback`"
            ),
        ));
    };
    // Clients send both `resolution` and `approved`. The two members must not contradict each other.
    let is_words_alone = offer.id == EDIT && opened.kind == Kind::ToolApproval && !has_edit;
    let releases = offer.effect.outcome() == Outcome::Approved;
    let (yes, no) = (*approved == Some(true), *approved == Some(false));
    if !is_words_alone && (resolution.is_some() && yes && offer.stops() || no && releases) {
        return Err(Refused::invalid_at("/approved", format!("contradicts `{said}`")));
    }
    let mut text = match (feedback, user_feedback) {
        (Some(a), Some(b)) if a != b => {
            return Err(Refused::invalid_at("/user_feedback", "differs from `feedback`"));
        }
        (a, b) => a.as_ref().or(b.as_ref()).filter(|text| !text.is_empty()).cloned(),
    };
    if (is_own_words || said.trim().is_empty()) && text.is_some() {
        let offered = options::names(opened).join(", ");
        let why = format!("was sent with a `resolution` that names no option; choose one of: {offered}");
        return Err(Refused::invalid_at("/feedback", why));
    }
    if is_own_words {
        text = Some(said.trim().to_owned());
    }
    // A `submit` without a text is probably a mistake, and accepting it would approve the work (contract E42).
    if options::is_submit(said) && text.as_ref().is_none_or(|text| text.trim().is_empty()) {
        return Err(Refused::invalid_at("/feedback", "is missing: `submit` needs a text"));
    }
    if !is_words_alone {
        return Ok((offer, text));
    }
    let offer = words_alone(opened, text.as_deref())?;
    if *approved == Some(true) {
        let why = "contradicts an edit with words alone, which refuses the call";
        return Err(Refused::invalid_at("/approved", why));
    }
    Ok((offer, text))
}

/// Returns the option that a client chooses with an edit of a call that contains a text but no arguments. This option
/// rejects the call, and the agent receives the text as instructions (contract E43).
fn words_alone<'o>(opened: &'o Opened, text: Option<&str>) -> Answer<&'o Offer> {
    let has_words = text.is_some_and(|text| !text.trim().is_empty());
    let instruction = options::instruction(opened);
    instruction.filter(|_| has_words).ok_or_else(|| {
        let words = if instruction.is_some() { ", or words for the agent as `feedback`" } else { "" };
        Refused::invalid_at("/modifications", format!("is missing: send the edited arguments{words}"))
    })
}

/// Converts Holdshort's names of fields and options in an error about a decision to the names in the client's frame.
fn here(refused: Refused, opened: &Opened, offer: &Offer, edit: &Edit) -> Refused {
    refused.map_field_errors(|error| {
        let there = match error.pointer.as_str() {
            "/option" => Some("/resolution".to_owned()),
            "/text" => Some("/feedback".to_owned()),
            native => edit.pointer(native),
        };
        if let Some(there) = there {
            error.pointer = there;
        }
        let [native, wire] = [&*offer.id, options::name(opened, &offer.id)].map(|name| format!("`{name}`"));
        error.message = error.message.replace(&native, &wire);
    })
}
