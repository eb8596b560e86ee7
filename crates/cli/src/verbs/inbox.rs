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

fn line(interrupt: &Interrupt, paint: Paint) {
    let level = match interrupt.risk.level {
        Level::Low => String::new(),
        Level::Medium => paint.yellow("  medium risk"),
        Level::High => paint.red("  high risk"),
        Level::Critical => paint.red("  CRITICAL risk"),
    };
    let shown = LookAlikes::written(interrupt);
    let is_erased = shown.title.is_empty() && shown.erased.is_some();
    let title = if is_erased { "(erased)".into() } else { plain::line(&shown.title) };
    let title = console::truncate_str(&title, paint.width.saturating_sub(4), "…");
    print_text(&format!("{}  {}{level}", paint.bold(&interrupt.id), card::kind(interrupt.kind)));
    print_text(&format!("    {title}"));
    let task = interrupt.task.as_deref().filter(|task| *task != interrupt.title);
    let about: Vec<&str> = [interrupt.workspace.as_deref(), task].into_iter().flatten().collect();
    if !about.is_empty() {
        let about = plain::line(&about.join(" · ")).into_owned();
        print_text(&format!("    {}", console::truncate_str(&about, paint.width.saturating_sub(4), "…")));
    }
    if let Some(you) = interrupt.you.as_ref().filter(|you| !you.may_decide) {
        let why = you.why.as_deref().map(|why| format!(": {}", plain::line(why))).unwrap_or_default();
        let told = format!("you may not decide{why}");
        let told = console::truncate_str(&told, paint.width.saturating_sub(4), "…");
        print_text(&paint.yellow(&format!("    {told}")));
    }
    if !interrupt.warnings.is_empty() {
        print_text(&paint.red(&format!(
            "    ! some text of this request is misleading; `{} show` explains why",
            holdshort()
        )));
    }
    let mut facts = format!("{}  {}", interrupt.run, time::ago(&interrupt.created_at));
    if interrupt.status == InterruptStatus::Open {
        if let Some(at) = &interrupt.expires_at {
            facts = format!("{facts}  until {}", time::at(at));
        }
    } else if let Some(resolution) = &interrupt.resolution {
        facts = format!("{facts}  {}", card::outcome(resolution.outcome));
    }
    print_text(&paint.dim(&format!("    {}", plain::line(&facts))));
}
