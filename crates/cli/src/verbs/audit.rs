//! `audit verify`: whether the journal is as it was written.

use holdshort_protocol::{Verification, plain};
use serde_json::Value;

use super::Scene;
use crate::exit::Exit;
use crate::output::{count, document, say};
use crate::terminal::paint::Paint;

pub(super) async fn verify(scene: &Scene) -> anyhow::Result<Exit> {
    let found: Value = scene.client()?.get("/v1/audit/verify").await?;
    let report: Verification = serde_json::from_value(found.clone())?;
    if scene.json {
        document(&found)?;
    } else {
        tell(&report);
    }
    Ok(if report.intact { Exit::Ok } else { Exit::Failed })
}

fn tell(report: &Verification) {
    let paint = Paint::stdout();
    let size = format!("{} in {}", count(report.events, "event"), count(report.streams, "stream"));
    if report.intact {
        say(&format!("{} {size}, every one as it was written.", paint.green("✓")));
        return;
    }
    say(&format!("{} the journal was damaged or changed ({size}):", paint.red("✗")));
    for damage in &report.damages {
        say(&format!("  {}: {}", plain::line(&damage.stream), plain::line(&damage.message)));
    }
    say(
        "  Restore the data folder from a backup, or the database that holds the journal; runs that are not named",
    );
    say("  here are not affected.");
}
