//! `freeze`, `unfreeze`: the installation as a whole.

use holdshort_protocol::System;
use serde_json::{Value, json};

use super::Scene;
use crate::called::spelled;
use crate::client::Client;
use crate::exit::Exit;
use crate::output::{document, say, tell_all};
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

pub(super) async fn change(scene: &Scene, verb: &str) -> anyhow::Result<Exit> {
    let system: Value = scene.client()?.post(&format!("/v1/system/{verb}"), &json!({})).await?;
    if scene.json {
        document(&system)?;
    } else if verb == "freeze" {
        say("Frozen: no tool and no model call starts. What was under way comes to its end.");
    } else {
        say("It goes on.");
    }
    Ok(Exit::Ok)
}
