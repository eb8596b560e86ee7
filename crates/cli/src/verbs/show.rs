//! `show`: prints the card of an interrupt, or a run.

use std::io::IsTerminal;

use holdshort_engine::real::REHEARSAL;
use holdshort_presentation::card::readable;
use holdshort_protocol::{Code, Interrupt, Run, Status, plain};
use serde_json::Value;

use super::run::PARTIAL;
use super::{Scene, system};
use crate::client::{Client, code, id};
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_lines, print_text};
use crate::plural::count;
use crate::program_name::holdshort;
use crate::terminal::card::{self, View};
use crate::terminal::earlier_answers;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn show(scene: &Scene, given: &str) -> anyhow::Result<Exit> {
    let given = id(given)?;
    let path = match given.split_once('_') {
        Some(("int", _)) => format!("/v1/interrupts/{given}"),
        Some(("run", _)) => format!("/v1/runs/{given}"),
        Some(("ses", _)) => format!("/v1/sessions/{given}"),
        _ => {
            return Err(usage(format!(
                "`{given}` is neither an interrupt (int_…), a run (run_…) nor a session (ses_…)"
            )));
        }
    };
    let client = scene.client()?;
    let found: Value = client.get(&path).await?;
    if scene.json {
        print_json(&found)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    match given.split_once('_') {
        Some(("int", _)) => {
            let found: Interrupt = serde_json::from_value(found)?;
            let of = run_of(&client, &found).await?;
            interrupt(&found, client.server_arguments(), paint);
            if of.as_ref().is_some_and(is_rehearsal) {
                print_text(&paint.yellow("  This is a rehearsal: the agent's words are scripted."));
            }
            print_text(&paint.dim(&format!("  {}/inbox/{given}", client.address())));
            if found.resolution.is_none() {
                if std::io::stdout().is_terminal() {
                    client.looked(&found.id).await;
                }
                if let Some(of) = of {
                    let agents: Vec<String> = found.agent.iter().cloned().collect();
                    system::warn(&client, |frozen| system::freeze_covers_run(frozen, &of, &agents)).await;
                }
            }
        }
        Some(("run", _)) => {
            let found: Run = serde_json::from_value(found)?;
            run(&found, client.server_arguments(), paint);
            if !found.status.is_terminal() {
                system::warn_of(&client, &found).await;
            }
        }
        _ => print_text(&plain::text(&serde_json::to_string_pretty(&found)?)),
    }
    Ok(Exit::Ok)
}

/// Returns the run of an interrupt. Returns `None` if the caller is a reviewer, who may not read runs and needs only
/// the card.
async fn run_of(client: &Client, interrupt: &Interrupt) -> anyhow::Result<Option<Run>> {
    match client.get(&format!("/v1/runs/{}", interrupt.run)).await {
        Ok(run) => Ok(Some(run)),
        Err(error) if matches!(code(&error), Some(Code::ForbiddenRole | Code::NotFound)) => Ok(None),
        Err(error) => Err(error),
    }
}

fn interrupt(interrupt: &Interrupt, words: &str, paint: Paint) {
    let view = View { paint, uncut: true, alone: true, said: "" };
    print_lines(&card::render(interrupt, view));
    if let Some(resolution) = card::resolution(interrupt, paint) {
        print_text(&format!("  {resolution}"));
        print_lines(&card::answered(interrupt, paint));
        if let Some(words) = interrupt.approval_words() {
            print_text(&format!("  {words}"));
        }
        if let Some(way) = card::revoke_command(interrupt, words) {
            print_text(&paint.dim(&format!("  {way}")));
        }
        return;
    }
    print_lines(&earlier_answers::sources(interrupt, paint));
    let answers = interrupt.suggestions();
    if !answers.is_empty() {
        print_text("  suggested answers, for --text:");
        for answer in answers {
            print_lines(&paint.fold(&format!("    {}", plain::line(answer)), 6));
        }
        print_text("");
    }
    for choice in &interrupt.options {
        let id = paint.bold(&format!("{:16}", plain::line(&choice.id)));
        let with = match (choice.needs_text, choice.needs_edit) {
            (true, _) => paint.dim("  with --text"),
            (_, true) => paint.dim("  with --edit"),
            (false, false) => String::new(),
        };
        let does = card::does(interrupt, choice, paint);
        print_text(&format!("  {id} {}{does}{with}", plain::line(&choice.label)));
    }
    print_text(&paint.dim(&format!("\n  {} decide {} OPTION{words}", holdshort(), interrupt.id)));
}

fn is_rehearsal(run: &Run) -> bool {
    run.config.model.as_deref() == Some(REHEARSAL)
}

fn run(run: &Run, words: &str, paint: Paint) {
    let line = |label: &str, text: &str| print_lines(&paint.labelled(label, text));
    print_text(&format!("{}  {}", paint.bold(&run.id), status(run, paint)));
    line("workflow", &run.workflow);
    line("session", &run.session);
    if let Some(workspace) = &run.workspace {
        line("workspace", &plain::line(workspace));
    }
    match run.config.model.as_deref() {
        Some(_) if is_rehearsal(run) => line("model", &paint.yellow("none: this is a rehearsal")),
        Some(model) => line("model", &plain::line(model)),
        None => {}
    }
    let task = run.input.get("task").and_then(Value::as_str);
    // Every run starts with an input, so a null input was erased.
    let input = if run.input.is_null() { "(erased)".to_owned() } else { run.input.to_string() };
    line("input", &plain::line(task.unwrap_or(&input)));
    if let Some(erased) = &run.erased {
        line("erased", &plain::line(&format!("{} ({})", time::ago(&erased.at), erased.why())));
    }
    line("started", &time::ago(&run.created_at));
    line("last", &format!("{} ({})", time::ago(&run.updated_at), count(run.seq, "event")));
    for open in &run.open_interrupts {
        line("waits for", open);
    }
    if let Some(reason) = &run.end_reason {
        line("ended", &plain::line(reason));
    }
    for said in run.end_message.iter().flat_map(|message| message.lines()) {
        line("", &plain::line(said));
    }
    if !run.result.is_null() {
        print_text("");
        result(run, words, paint);
    }
}

/// Prints the result of a run. A text is printed only once, although a result often repeats it in its phases and
/// approved items.
fn result(run: &Run, words: &str, paint: Paint) {
    let text = string(&run.result, "text").trim_end();
    let is_of_phases = run.result.get("phases").is_some();
    if text.is_empty() || !is_of_phases {
        print_text(&plain::text(&readable(&run.result)));
        return;
    }
    print_text(&plain::text(text));
    for item in items(&run.result, "released") {
        let content = string(item, "content").trim_end();
        if content != text {
            print_text("");
            print_text(&paint.bold(&format!("Released: {}", plain::line(string(item, "title")))));
            print_text(&plain::text(content));
        }
    }
    for item in items(&run.result, "undone").filter_map(Value::as_str) {
        print_text(&format!("Left undone: {}", plain::line(item)));
    }
    let all = format!("the result of each phase: `{} show {} --json{words}`", holdshort(), run.id);
    print_text("");
    print_lines(&paint.message(&paint.dim(&all), 2));
}

fn string<'v>(of: &'v Value, key: &str) -> &'v str {
    of.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn items<'v>(of: &'v Value, key: &str) -> impl Iterator<Item = &'v Value> {
    of.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn status(run: &Run, paint: Paint) -> String {
    match run.status {
        Status::Queued => "queued".to_owned(),
        Status::Running => "running".to_owned(),
        Status::Waiting => paint.yellow("waiting for a person"),
        Status::Paused => paint.yellow("paused"),
        Status::Completed if run.end_reason.as_deref() == Some(PARTIAL) => {
            paint.yellow("completed, in part: some of the work was not done")
        }
        Status::Completed => paint.green("completed"),
        Status::Failed => paint.red("failed"),
        Status::Cancelled => paint.yellow("cancelled"),
    }
}
