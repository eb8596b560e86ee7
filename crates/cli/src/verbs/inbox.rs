//! `inbox`: lists the interrupts that wait for a decision.

use holdshort_protocol::{Interrupt, InterruptStatus, Level, LookAlikes, plain};

use super::{Scene, system};
use crate::exit::Exit;
use crate::output::{print_json, print_message, print_text};
use crate::program_name::holdshort;
use crate::terminal::card;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn inbox(scene: &Scene, all: bool) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let query: &[(&str, &str)] = if all { &[] } else { &[("status", "open"), ("snoozed", "false")] };
    let items = client.list("/v1/interrupts", query).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let items: Vec<Interrupt> = items.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
    // An interrupt does not contain the name of its workflow, so all freezes of workflows are printed. A server has few
    // such freezes.
    system::warn(&client, |frozen| {
        let is_here = |item: &Interrupt| {
            frozen.run.as_ref().is_none_or(|run| *run == item.run)
                && frozen.agent.as_ref().is_none_or(|agent| Some(agent) == item.agent.as_ref())
        };
        (frozen.run.is_none() && frozen.agent.is_none()) || items.iter().any(is_here)
    })
    .await;
    let paint = Paint::stdout();
    for interrupt in &items {
        line(interrupt, paint);
    }
    if items.is_empty() {
        print_message("Nothing waits for you.");
    } else {
        let words = client.server_arguments();
        for verb in ["show ID", "decide ID OPTION", "attach RUN"] {
            print_message(&paint.dim(&format!("{} {verb}{words}", holdshort())));
        }
    }
    Ok(Exit::Ok)
}

/// Prints an interrupt on one line. This line is truncated to the width of the terminal, so the most important facts
/// come first.
fn line(interrupt: &Interrupt, paint: Paint) {
    let shown = LookAlikes::written(interrupt);
    let is_erased = shown.title.is_empty() && shown.erased.is_some();
    let title = if is_erased { "(erased)".into() } else { plain::line(&shown.title) };
    let age = time::ago(&interrupt.created_at);
    let mut line = format!("{}  {age}  {}", paint.bold(&interrupt.id), card::kind(interrupt.kind));
    match interrupt.risk.level {
        Level::Low => {}
        Level::Medium => line.push_str(&paint.yellow("  medium risk")),
        Level::High => line.push_str(&paint.red("  high risk")),
        Level::Critical => line.push_str(&paint.red("  CRITICAL risk")),
    }
    if !interrupt.warnings.is_empty() {
        line.push_str(&paint.red("  ! misleading text"));
    }
    if interrupt.you.as_ref().is_some_and(|you| !you.may_decide) {
        line.push_str(&paint.yellow("  you are not allowed to decide"));
    }
    line.push_str("  ");
    line.push_str(&title);
    let mut facts = Vec::new();
    if interrupt.status == InterruptStatus::Open {
        facts.extend(interrupt.expires_at.as_ref().map(|at| format!("until {}", time::at(at))));
    } else if let Some(resolution) = &interrupt.resolution {
        facts.push(card::outcome(resolution.outcome));
    }
    let task = interrupt.task.as_deref().filter(|task| *task != interrupt.title);
    let about = [interrupt.workspace.as_deref(), task].into_iter().flatten();
    facts.extend(about.map(|about| plain::line(about).into_owned()));
    facts.push(interrupt.run.clone());
    line.push_str(&paint.dim(&format!("  {}", facts.join(" · "))));
    let cut = if paint.is_terminal { console::truncate_str(&line, paint.width, "…") } else { line.into() };
    print_text(&cut);
}
