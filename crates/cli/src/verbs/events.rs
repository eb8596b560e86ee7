//! `events`: prints the stored events of a run, or prints events until the run ends.

use std::collections::HashMap;

use holdshort_protocol::{Event, List, Run, plain};

use super::Scene;
use crate::client::{Client, id_of};
use crate::exit::Exit;
use crate::output::print_text;
use crate::stream::{Events, Item, Watched};
use crate::terminal::follow::exit_for_status;
use crate::terminal::paint::Paint;
use crate::terminal::time;

/// Maximum number of events in one page that the command `events` reads from the server.
const PAGE: usize = 200;

pub(super) async fn events(scene: &Scene, run: &str, follow: bool, since: u64) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let run: Run = client.get(&format!("/v1/runs/{}", id_of(run, "run")?)).await?;
    let mut printer = Printer { json: scene.json, paint: Paint::stdout(), calls: HashMap::new() };
    if follow && !run.status.is_terminal() {
        return followed(&client, &run, since, &mut printer).await;
    }
    let mut since = since.to_string();
    loop {
        let path = format!("/v1/runs/{}/events?limit={PAGE}&since={since}", run.id);
        let page: List<Event> = client.get(&path).await?;
        for event in &page.items {
            printer.print(event, &serde_json::to_string(event)?);
            // Events after the end of the run, such as a legal hold, are not printed.
            if follow && event.ends_run() {
                return Ok(exit_for_status(run.status));
            }
        }
        match page.next_cursor {
            Some(next) => since = next,
            None => return Ok(if follow { exit_for_status(run.status) } else { Exit::Ok }),
        }
    }
}

/// Prints the events of a run as they arrive, until the run ends.
async fn followed(client: &Client, run: &Run, since: u64, printer: &mut Printer) -> anyhow::Result<Exit> {
    let mut events = Events::follow(client, &run.id, since, Watched::now());
    while let Some(item) = events.next().await {
        match item {
            Item::Event(event, line) => {
                printer.print(&event, &line);
                if event.ends_run() {
                    let run: Run = client.get(&format!("/v1/runs/{}", run.id)).await?;
                    return Ok(exit_for_status(run.status));
                }
            }
            Item::Broken(error) => return Err(error),
            Item::Lost => {
                crate::output::print_message("The connection to the server is lost; reconnecting …");
            }
            Item::Back => crate::output::print_message("The server is back."),
            Item::Preview(_) => {}
        }
    }
    Ok(Exit::Failed)
}

struct Printer {
    json: bool,
    paint: Paint,
    /// Name of the tool that each call of the run uses, by the id of the call.
    calls: HashMap<String, String>,
}

impl Printer {
    fn print(&mut self, event: &Event, line: &str) {
        if self.json {
            print_text(line);
        } else {
            print_text(&brief(event, &mut self.calls, self.paint));
        }
    }
}

/// Formats an event as one line: time, actor, type, and as many further facts as fit.
fn brief(event: &Event, calls: &mut HashMap<String, String>, paint: Paint) -> String {
    let data = &event.data;
    let string = |key: &str| data.get(key).and_then(serde_json::Value::as_str);
    for listed in data.get("calls").and_then(serde_json::Value::as_array).into_iter().flatten() {
        if let (Some(call), Some(tool)) = (listed["call"].as_str(), listed["tool"].as_str()) {
            calls.insert(call.to_owned(), tool.to_owned());
        }
    }
    let mut facts = Vec::new();
    for key in [
        "workflow",
        "phase",
        "step",
        "end",
        "option",
        "outcome",
        "kind",
        "level",
        "reason",
        "because",
        "limit",
        "why",
        "code",
        "interrupt",
    ] {
        if let Some(text) = string(key) {
            facts.push(text.to_owned());
        }
    }
    if let Some(call) = string("call") {
        facts.insert(0, calls.get(call).map_or(call, String::as_str).to_owned());
    }
    let (text, title) = (data.pointer("/content/text"), data.pointer("/content/data/title"));
    // The text of a result that waits for a review is the complete result, so the title is printed instead.
    let text = if event.kind == "result_held" { title.or(text) } else { text.or(title) };
    let text = text.and_then(serde_json::Value::as_str);
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        facts.push(format!("“{}”", text.trim().lines().next().unwrap_or_default()));
    }
    let head = format!(
        "{:>4}  {}  {:9} {:19}",
        event.seq,
        time::clock(&event.at),
        plain::line(&event.actor.id),
        plain::line(&event.kind)
    );
    let facts = plain::line(&facts.join(" ")).into_owned();
    // A file or a pipe has no width, so all facts fit.
    let room = paint.width.saturating_sub(head.len() + 1).max(20);
    let facts =
        if paint.is_terminal { console::truncate_str(&facts, room, "…").into_owned() } else { facts };
    format!("{head} {}", paint.dim(&facts))
}
