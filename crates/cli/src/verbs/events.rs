//! `events`: a run's events, as they stand and as they come.

use std::collections::HashMap;

use holdshort_protocol::{Event, Run, plain};

use super::Scene;
use crate::client::{Client, id_of};
use crate::exit::Exit;
use crate::output::say;
use crate::stream::{Events, Item, Watched};
use crate::terminal::follow::of_status;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn events(scene: &Scene, run: &str, follow: bool, since: u64) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let run: Run = client.get(&format!("/v1/runs/{}", id_of(run, "run")?)).await?;
    if !follow && run.seq <= since {
        return Ok(Exit::Ok);
    }
    let until = if follow { u64::MAX } else { run.seq };
    let status = print(&client, &run, since, until, scene.json).await?;
    Ok(if follow { status } else { Exit::Ok })
}

/// Prints events up to `until`, or to the end of the run.
async fn print(client: &Client, run: &Run, since: u64, until: u64, json: bool) -> anyhow::Result<Exit> {
    let paint = Paint::stdout();
    let mut events = Events::follow(client, &run.id, since, Watched::now());
    let mut calls = HashMap::new();
    while let Some(item) = events.next().await {
        match item {
            Item::Event(event, line) => {
                if json {
                    say(&line);
                } else {
                    say(&brief(&event, &mut calls, paint));
                }
                let ends = matches!(event.kind.as_str(), "run_completed" | "run_failed" | "run_cancelled");
                if ends || event.seq >= until {
                    let run: Run = client.get(&format!("/v1/runs/{}", run.id)).await?;
                    return Ok(of_status(run.status));
                }
            }
            Item::Broken(error) => return Err(error),
            Item::Lost => crate::output::tell("The server is gone; trying to reach it again …"),
            Item::Back => crate::output::tell("The server is back."),
            Item::Preview(_) => {}
        }
    }
    Ok(Exit::Failed)
}

/// One event on one line: when, who, what, and the facts that fit.
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
        "reason",
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
    let text = data.pointer("/content/text").or_else(|| data.pointer("/content/data/title"));
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
    // A file or a pipe has room for all of it.
    let room = paint.width.saturating_sub(head.len() + 1).max(20);
    let facts =
        if paint.is_terminal { console::truncate_str(&facts, room, "…").into_owned() } else { facts };
    format!("{head} {}", paint.dim(&facts))
}
