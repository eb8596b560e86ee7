//! `freeze`, `unfreeze`: the installation as a whole.

use serde_json::{Value, json};

use super::Scene;
use crate::exit::Exit;
use crate::output::{document, say};

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
