//! `grants`, `revoke`: what was allowed for a session, and taking it back.

use holdshort_protocol::Grant;

use super::Scene;
use crate::client::id;
use crate::exit::Exit;
use crate::output::{document, say, tell};
use crate::terminal::escape;
use crate::terminal::paint::Paint;

pub(super) async fn grants(scene: &Scene, session: &str) -> anyhow::Result<Exit> {
    let items = scene.client()?.list(&format!("/v1/sessions/{}/grants", id(session)?), &[]).await?;
    if scene.json {
        document(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    if items.is_empty() {
        tell("Nothing was allowed for this session.");
    }
    for item in items {
        let grant: Grant = serde_json::from_value(item)?;
        let state = grant.revoked_at.as_ref().map(|at| format!("  revoked {at}")).unwrap_or_default();
        say(&format!("{}{}", paint.bold(&grant.id), paint.yellow(&escape::line(&state))));
        say(&format!("    {} in {}", covered(&grant), escape::line(&grant.workspace)));
        say(&paint.dim(&format!(
            "    given by {} at {} ({})",
            escape::line(&grant.owner),
            grant.added_at,
            grant.interrupt
        )));
    }
    Ok(Exit::Ok)
}

fn covered(grant: &Grant) -> String {
    if grant.commands.is_empty() {
        return format!("every {}", escape::line(&grant.tool));
    }
    let commands = grant.commands.iter().map(|command| {
        let sub =
            command.subcommand.as_deref().map(|sub| format!(" {}", escape::line(sub))).unwrap_or_default();
        let writes = if command.writes { "" } else { " (reading only)" };
        format!("`{}{sub} …`{writes}", escape::line(&command.program))
    });
    commands.collect::<Vec<_>>().join(", ")
}

pub(super) async fn revoke(scene: &Scene, grant: &str) -> anyhow::Result<Exit> {
    let revoked = scene.client()?.delete(&format!("/v1/grants/{}", id(grant)?)).await?;
    if scene.json {
        document(&revoked)?;
    } else {
        say(&format!("{grant}: taken back; from the next call on it asks again."));
    }
    Ok(Exit::Ok)
}
