//! `message`, `pause`, `resume`, `cancel`: what a person does to a run as a whole.

use holdshort_protocol::{Message, Note, Run};
use serde::Serialize;
use serde_json::{Value, json};

use super::Scene;
use crate::client::id_of;
use crate::exit::Exit;
use crate::output::{document, say};

pub(super) async fn message(scene: &Scene, run: &str, text: String) -> anyhow::Result<Exit> {
    post(scene, run, "messages", &Message { text }, "It hears that with its next request.").await
}

pub(super) async fn steer(scene: &Scene, run: &str, verb: &str) -> anyhow::Result<Exit> {
    let said = if verb == "pause" { "Paused." } else { "It goes on." };
    post(scene, run, verb, &json!({}), said).await
}

pub(super) async fn cancel(scene: &Scene, run: &str, text: Option<String>) -> anyhow::Result<Exit> {
    post(scene, run, "cancel", &Note { text }, "Cancelled.").await
}

async fn post(
    scene: &Scene,
    run: &str,
    verb: &str,
    body: &impl Serialize,
    said: &str,
) -> anyhow::Result<Exit> {
    let answer: Value =
        scene.client()?.post(&format!("/v1/runs/{}/{verb}", id_of(run, "run")?), body).await?;
    if scene.json {
        document(&answer)?;
    } else {
        let run: Run = serde_json::from_value(answer)?;
        say(&format!("{}: {said}", run.id));
    }
    Ok(Exit::Ok)
}
