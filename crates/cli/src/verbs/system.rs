//! `freeze`, `unfreeze`: the installation as a whole, or a part of it.

use holdshort_protocol::{Freeze, FreezeOf, Frozen, System};

use super::Scene;
use crate::called::spelled;
use crate::client::{Client, id_of};
use crate::exit::Exit;
use crate::output::{document, say_all, tell_all};
use crate::terminal::paint::Paint;

/// What to say where somebody would wonder why nothing goes on.
pub(super) const FROZEN: &str =
    "Everything is frozen: decisions are taken, and nothing starts before `holdshort unfreeze`.";

pub(super) async fn is_frozen(client: &Client) -> anyhow::Result<bool> {
    Ok(client.get::<System>("/v1/system").await?.frozen)
}

/// Whoever may not ask is not told.
pub(super) async fn warn(client: &Client) {
    if is_frozen(client).await.unwrap_or(false) {
        let paint = Paint::stderr();
        tell_all(&paint.message(&paint.yellow(&spelled(FROZEN)), 0));
    }
}

pub(super) async fn freeze(scene: &Scene, of: crate::args::FreezeOf, reason: String) -> anyhow::Result<Exit> {
    let what = named(&of);
    let FreezeOf { run, workflow, agent } = wire(of)?;
    let body = Freeze { run, workflow, agent, reason };
    let system: System = scene.client()?.post("/v1/system/freeze", &body).await?;
    let line =
        format!("Frozen: no tool and no model call of {what} starts. What was under way comes to its end.");
    told(scene, &system, &line)
}

pub(super) async fn unfreeze(scene: &Scene, of: crate::args::FreezeOf) -> anyhow::Result<Exit> {
    let system: System = scene.client()?.post("/v1/system/unfreeze", &wire(of)?).await?;
    let still: Vec<String> = system.freezes.iter().map(still).collect();
    let line = if still.is_empty() { "It goes on.".to_owned() } else { still.join("\n") };
    told(scene, &system, &line)
}

fn told(scene: &Scene, system: &System, line: &str) -> anyhow::Result<Exit> {
    if scene.json {
        document(system)?;
    } else {
        say_all(&line.lines().map(str::to_owned).collect::<Vec<_>>());
    }
    Ok(Exit::Ok)
}

fn named(of: &crate::args::FreezeOf) -> String {
    let crate::args::FreezeOf { run, workflow, agent } = of;
    let of = |kind: &str, name: &Option<String>| name.as_ref().map(|name| format!("{kind} {name}"));
    of("run", run)
        .or_else(|| of("workflow", workflow))
        .or_else(|| of("agent", agent))
        .unwrap_or_else(|| "anything".to_owned())
}

/// A freeze that stands, as a line.
pub(super) fn still(frozen: &Frozen) -> String {
    let Frozen { run, workflow, agent, .. } = frozen.clone();
    let what = match named(&crate::args::FreezeOf { run, workflow, agent }).as_str() {
        "anything" => "everything".to_owned(),
        part => part.to_owned(),
    };
    let reason = frozen.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("frozen since {} by {}: {what}{reason}", frozen.at, frozen.by)
}

fn wire(of: crate::args::FreezeOf) -> anyhow::Result<FreezeOf> {
    let crate::args::FreezeOf { run, workflow, agent } = of;
    let run = run.map(|run| id_of(&run, "run").map(str::to_owned)).transpose()?;
    Ok(FreezeOf { run, workflow, agent })
}
