//! `freeze`, `unfreeze`: the installation as a whole, or a part of it.

use holdshort_protocol::{Freeze, FreezeOf, Frozen, System};

use super::Scene;
use crate::args;
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

pub(super) async fn freeze(scene: &Scene, of: args::FreezeOf, reason: String) -> anyhow::Result<Exit> {
    let of = wire(of)?;
    let what = part(&of).unwrap_or_else(|| "anything".to_owned());
    let FreezeOf { run, workflow, agent } = of;
    let body = Freeze { run, workflow, agent, reason };
    let system: System = scene.client()?.post("/v1/system/freeze", &body).await?;
    let line =
        format!("Frozen: no tool and no model call of {what} starts. What was under way comes to its end.");
    told(scene, &system, &[line])
}

pub(super) async fn unfreeze(scene: &Scene, of: args::FreezeOf) -> anyhow::Result<Exit> {
    let system: System = scene.client()?.post("/v1/system/unfreeze", &wire(of)?).await?;
    if system.freezes.is_empty() {
        return told(scene, &system, &["It goes on.".to_owned()]);
    }
    told(scene, &system, &system.freezes.iter().map(line).collect::<Vec<_>>())
}

fn told(scene: &Scene, system: &System, lines: &[String]) -> anyhow::Result<Exit> {
    if scene.json {
        document(system)?;
    } else {
        say_all(lines);
    }
    Ok(Exit::Ok)
}

/// A freeze that stands.
fn line(frozen: &Frozen) -> String {
    let Frozen { run, workflow, agent, reason, by, at } = frozen.clone();
    let what = part(&FreezeOf { run, workflow, agent }).unwrap_or_else(|| "everything".to_owned());
    let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("frozen since {at} by {by}: {what}{reason}")
}

/// The part that is named; `None` for everything.
fn part(of: &FreezeOf) -> Option<String> {
    let FreezeOf { run, workflow, agent } = of;
    let mut named = [("run", run), ("workflow", workflow), ("agent", agent)].into_iter();
    named.find_map(|(kind, name)| Some(format!("{kind} {}", name.as_ref()?)))
}

fn wire(of: args::FreezeOf) -> anyhow::Result<FreezeOf> {
    let args::FreezeOf { run, workflow, agent } = of;
    let run = run.map(|run| id_of(&run, "run").map(str::to_owned)).transpose()?;
    Ok(FreezeOf { run, workflow, agent })
}
