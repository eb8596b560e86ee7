//! `nodes`: lists the servers that share the journal, and the runs that each server executes.

use holdshort_protocol::{Node, plain};

use super::Scene;
use crate::exit::Exit;
use crate::output::{print_json, print_text};
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn nodes(scene: &Scene) -> anyhow::Result<Exit> {
    let items = scene.client()?.list("/v1/nodes", &[]).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    for item in items {
        let node: Node = serde_json::from_value(item)?;
        let here = if node.here { ", which answered this command" } else { "" };
        let state = match (node.alive, &node.alive_until) {
            (true, _) => String::new(),
            (false, Some(at)) => {
                format!("  lease ended {}, so other servers take over the runs of this server", time::ago(at))
            }
            (false, None) => "  its lease ended".to_owned(),
        };
        let name = paint.bold(&plain::line(&node.name));
        print_text(&format!("{name}  node {}{here}{}", node.node, paint.yellow(&state)));
        print_text(&paint.dim(&format!(
            "    started {}, executes {}",
            time::ago(&node.opened_at),
            runs(node.driving)
        )));
        for run in &node.runs {
            print_text(&format!("    {run}"));
        }
    }
    Ok(Exit::Ok)
}

fn runs(count: u64) -> String {
    match count {
        0 => "no run".to_owned(),
        1 => "1 run".to_owned(),
        many => format!("{many} runs"),
    }
}
