//! `decide`: sends one decision.

use std::path::Path;

use anyhow::Context;
use holdshort_protocol::{Decision, Interrupt, InterruptStatus, Offer, plain};
use serde_json::Value;

use super::Scene;
use super::run::file_or_stdin;
use crate::args::Decide;
use crate::client::id_of;
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_message, print_message_lines, print_text, prompt};
use crate::program_name::holdshort;
use crate::terminal::input::{Input, Line};
use crate::terminal::paint::Paint;
use crate::terminal::prompt::also;
use crate::terminal::{card, earlier_answers};

pub(super) async fn decide(scene: &Scene, args: Decide) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let interrupt = id_of(&args.interrupt, "int")?;
    let mut input = Input::open().filter(|_| !scene.json);
    let mut now: Option<Interrupt> = None;
    if args.edit.is_some() || args.from.is_some() || !args.unseen || input.is_some() {
        now = Some(client.get(&format!("/v1/interrupts/{interrupt}")).await?);
    }
    let edit = match (&args.edit, &now) {
        (Some(path), Some(now)) => edit(now, path, &file_or_stdin(path)?)?,
        _ => Value::Null,
    };
    if let Some(now) = now.as_ref().filter(|_| !args.unseen) {
        refuse_unseen(now, &args.option, &edit)?;
    }
    let mut version = args.version;
    if let (Some(now), Some(input)) = (&now, &mut input) {
        match agrees(now, &args.option, input).await? {
            Some(true) => version = version.or(Some(now.version)),
            Some(false) => {
                print_message("Nothing is decided.");
                return Ok(Exit::Waiting);
            }
            None => {}
        }
    }
    let mut decision =
        Decision { option: args.option, text: args.text, edit, version, ..Decision::default() };
    if let (Some(from), Some(now)) = (args.from, &now) {
        let taken = taken(now, id_of(&from, "int")?)?;
        decision = Decision { option: decision.option, version, ..taken };
    }
    let also =
        args.also.iter().map(|id| id_of(id, "int").map(str::to_owned)).collect::<Result<Vec<_>, _>>()?;
    match (&now, &mut input) {
        (Some(now), Some(input)) if also.is_empty() => {
            let Some(kept) = keep_also(now, decision, input).await? else {
                print_message("Nothing is decided.");
                return Ok(Exit::Waiting);
            };
            decision = kept;
        }
        _ => decision.also = also,
    }
    let decided: Value = client.post(&format!("/v1/interrupts/{interrupt}/decisions"), &decision).await?;
    if scene.json {
        print_json(&decided)?;
    } else {
        let paint = Paint::stdout();
        let decided: Interrupt = serde_json::from_value(decided)?;
        let waits = || "Recorded. Other approvers must decide too.".to_owned();
        print_text(&card::resolution(&decided, paint).unwrap_or_else(waits));
        if let Some(released) = also::released(&decided) {
            print_text(&released);
        }
        if let Some(way) = card::revoke_command(&decided, client.server_arguments()) {
            print_message(&way);
        }
    }
    Ok(Exit::Ok)
}

/// Rejects a decision that approves parts which the card of the interrupt does not show, unless the person passes
/// `--unseen`. An option that the interrupt does not list is checked too, because it may be another name of an option.
fn refuse_unseen(interrupt: &Interrupt, option: &str, edit: &Value) -> anyhow::Result<()> {
    let is_open = interrupt.status == InterruptStatus::Open;
    let unseen = match interrupt.offer(option) {
        Some(choice) => interrupt.unseen_by(choice, edit),
        None => interrupt.unseen.clone(),
    };
    match unseen.filter(|_| is_open) {
        Some(unseen) => Err(usage(format!(
            "{} Read it with `{} show {}`, then repeat the command with `--unseen`.",
            plain::line(&unseen),
            holdshort(),
            interrupt.id
        ))),
        None => Ok(()),
    }
}

/// Asks the person at the terminal to confirm a risky option of an interrupt. Returns `None` if no confirmation is
/// needed.
async fn agrees(interrupt: &Interrupt, option: &str, input: &mut Input) -> anyhow::Result<Option<bool>> {
    let offer = interrupt.offer(option);
    let asked = offer.and_then(|offer| Some((offer, interrupt.stakes(offer)?)));
    let Some((offer, stakes)) = asked.filter(|_| interrupt.status == InterruptStatus::Open) else {
        return Ok(None);
    };
    let paint = Paint::stderr();
    for text in [interrupt.title.clone(), format!("{}: {stakes}.", offer.label)] {
        print_message_lines(&paint.message(&plain::line(&text), 2));
    }
    // Text that was typed before the question was shown must not answer the question.
    input.forget();
    prompt("y sends it, anything else does not> ");
    let line = input.line().await.context("the terminal cannot be read")?;
    Ok(Some(matches!(line, Line::Text(text) if matches!(&*text.trim().to_lowercase(), "y" | "yes"))))
}

/// Lists the other open calls that a grant would approve, and asks the person which of them to approve. Returns `None`
/// if the typed line is no valid reply.
async fn keep_also(
    interrupt: &Interrupt,
    decision: Decision,
    input: &mut Input,
) -> anyhow::Result<Option<Decision>> {
    let gives_grant = interrupt.offer(&decision.option).is_some_and(Offer::gives_grant);
    if !gives_grant || interrupt.also_covers.is_empty() {
        return Ok(Some(decision));
    }
    print_message_lines(&also::list(&interrupt.also_covers, Paint::stderr()));
    // A line that was typed before the list was shown must not answer the question.
    input.forget();
    prompt(also::KEYS);
    let line = input.line().await.context("the terminal cannot be read")?;
    Ok(match line {
        Line::Text(text) => also::answered(&decision, &interrupt.also_covers, &text),
        _ => None,
    })
}

/// Returns the decision that sends an earlier answer. `from` is the id of the question to which the earlier answer was
/// given.
fn taken(interrupt: &Interrupt, from: &str) -> anyhow::Result<Decision> {
    let suggested = interrupt.suggestions_from_history.iter().find(|each| each.interrupt == from);
    suggested.and_then(|suggested| earlier_answers::decision(interrupt, suggested)).ok_or_else(|| {
        usage(format!(
            "{from} is not suggested for this question; `{} show {}` lists the suggestions",
            holdshort(),
            interrupt.id
        ))
    })
}

/// Parses the edited value that a person passes with a decision: JSON, or the text itself if the interrupt takes plain
/// text.
fn edit(interrupt: &Interrupt, path: &Path, given: &str) -> anyhow::Result<Value> {
    let words = || Value::String(given.trim_end_matches('\n').to_owned());
    let is_free = interrupt.response_schema.is_none() && !interrupt.replaced().is_object();
    match serde_json::from_str(given) {
        Ok(Value::String(text)) => Ok(Value::String(text)),
        Ok(value) if !interrupt.edits_text() => Ok(value),
        Ok(_) => Ok(words()),
        Err(_) if interrupt.edits_text() || is_free => Ok(words()),
        Err(error) => {
            let is_stdin = path == Path::new("-");
            let what = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
            Err(usage(format!("{what} is not valid JSON, which this option requires: {error}")))
        }
    }
}
