//! `doctor`: what is configured here, and what works. Changes nothing.

use holdshort_models::Source;
use holdshort_protocol::{Info, plain};
use serde_json::{Value, json};

use super::serve::sandbox;
use super::{Scene, system};
use crate::args::ModelArgs;
use crate::client::Client;
use crate::embed;
use crate::exit::Exit;
use crate::output::{document, say};
use crate::place::{self, Place};
use crate::terminal::edit;
use crate::terminal::paint::Paint;

pub(super) async fn doctor(scene: &Scene, model: &ModelArgs) -> anyhow::Result<Exit> {
    let place = Place::of(scene.reach.data.as_deref())?;
    let report = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "data": {"path": place.path, "journal": place.holds_journal(), "problem": place.trouble()},
        "store": embed::store_of_environment().map(|url| embed::database_words(&url)),
        "model": configured(model),
        "sandbox": confined().await?,
        "server": server(scene).await,
        "programs": {"git": place::program("git"), "python3": place::program("python3")},
        "editor": edit::editor(),
    });
    if scene.json {
        document(&report)?;
    } else {
        tell(&report);
    }
    Ok(Exit::Ok)
}

fn configured(model: &ModelArgs) -> Value {
    let env = |name: &str| std::env::var(name).ok();
    match holdshort_models::from_env(&embed::settings(model), &env) {
        Ok(Source::Provider(model)) => {
            let model = model.describe();
            json!({"name": model.name, "provider": model.provider, "base_url": model.base_url})
        }
        Ok(Source::Missing(missing)) => json!({"missing": missing.to_string()}),
        Err(error) => json!({"missing": error.to_string()}),
    }
}

async fn confined() -> anyhow::Result<String> {
    let program = std::env::current_exe()?;
    let level = tokio::task::spawn_blocking(move || holdshort_tools::sandbox::level(&program, false)).await?;
    Ok(serde_json::to_value(level)?.as_str().unwrap_or("none").to_owned())
}

async fn server(scene: &Scene) -> Value {
    let client = match Client::find(&scene.reach) {
        Ok(client) => client,
        Err(error) => return json!({"reachable": false, "why": error.to_string()}),
    };
    match client.get::<Info>("/v1/info").await {
        Ok(info) => json!({
            "reachable": true, "address": client.address(), "version": info.version, "data": info.data,
            "model": info.model.name, "rehearsal": info.rehearsal, "sandbox": info.sandbox,
            "frozen": system::is_frozen(&client).await.ok(),
        }),
        Err(error) => {
            json!({"reachable": false, "address": client.address(), "why": crate::output::error(&error)})
        }
    }
}

fn tell(report: &Value) {
    let paint = Paint::stdout();
    let string = |pointer: &str| report.pointer(pointer).and_then(Value::as_str);
    let line = |good: bool, label: &str, text: &str| {
        let mark = if good { paint.green("✓") } else { paint.yellow("–") };
        let mut mark = Some(mark);
        for line in paint.labelled(label, &plain::text(text)) {
            say(&format!("{}{line}", mark.take().unwrap_or_else(|| " ".to_owned())));
        }
    };
    say(&paint.bold(&format!("Holdshort {}", string("/version").unwrap_or_default())));
    let holds = report["data"]["journal"].as_bool().unwrap_or(false);
    let state = if holds { "" } else { " (empty)" };
    match string("/data/problem") {
        Some(problem) => line(false, "data", problem),
        None => line(true, "data", &format!("{}{state}", string("/data/path").unwrap_or_default())),
    }
    if let Some(store) = string("/store") {
        line(true, "store", &format!("{store} has the journal of `holdshort serve` (HOLDSHORT_STORE)"));
    }
    match (string("/model/missing"), string("/model/name")) {
        (None, Some(name)) => {
            let at = string("/model/base_url").map(|url| format!(" at {url}")).unwrap_or_default();
            line(true, "model", &format!("{name} ({}){at}", string("/model/provider").unwrap_or_default()));
        }
        (missing, _) => line(false, "model", &format!("rehearsals only: {}", missing.unwrap_or_default())),
    }
    let level = string("/sandbox").unwrap_or("none");
    line(level == "full", "sandbox", &sandbox(level));
    match string("/server/address") {
        Some(address) if report["server"]["reachable"] == true => {
            line(
                true,
                "server",
                &format!("{address}, version {}", string("/server/version").unwrap_or_default()),
            );
        }
        _ => line(false, "server", string("/server/why").unwrap_or("none")),
    }
    if report["server"]["frozen"] == true {
        line(false, "", system::FROZEN);
    }
    for program in ["git", "python3"] {
        match string(&format!("/programs/{program}")) {
            Some(path) => line(true, program, path),
            None => line(false, program, "not found; `holdshort demo` uses it"),
        }
    }
    let editor = string("/editor");
    line(editor.is_some(), "editor", editor.unwrap_or("none is found; set EDITOR"));
}
