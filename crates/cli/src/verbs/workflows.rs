//! `workflows`: what can be started.

use holdshort_protocol::{Workflow, plain};

use super::Scene;
use crate::exit::Exit;
use crate::output::{document, say, say_all};
use crate::terminal::paint::Paint;

pub(super) async fn workflows(scene: &Scene) -> anyhow::Result<Exit> {
    let items = scene.client()?.list("/v1/workflows", &[]).await?;
    if scene.json {
        document(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    for item in items {
        let workflow: Workflow = serde_json::from_value(item)?;
        let rehearsal = if workflow.rehearsal { paint.dim("  (has a rehearsal)") } else { String::new() };
        say(&format!("{}{rehearsal}", paint.bold(&plain::line(&workflow.name))));
        for (label, text) in [
            ("", workflow.description.clone()),
            ("agents: ", workflow.agents.join(", ")),
            ("phases: ", workflow.phases.join(" → ")),
            ("tools: ", workflow.tools.join(", ")),
        ] {
            if !text.trim().is_empty() {
                let text = format!("{label}{}", plain::line(text.trim()));
                let options =
                    textwrap::Options::new(paint.width).initial_indent("    ").subsequent_indent("    ");
                say_all(&textwrap::wrap(&text, options));
            }
        }
    }
    Ok(Exit::Ok)
}
