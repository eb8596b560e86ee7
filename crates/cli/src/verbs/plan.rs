//! `plan`: prints the plans of a run as graphs. With `--follow`, prints every change of the plans until the run ends.

use holdshort_protocol::{Interrupt, Kind, List, Plan, Run};

use super::Scene;
use crate::client::{Client, id_of};
use crate::exit::Exit;
use crate::output::{print_json, print_lines, print_message, print_text};
use crate::program_name::holdshort;
use crate::stream::{Events, Item, Watched};
use crate::terminal::card::{self, View};
use crate::terminal::follow::exit_for_status;
use crate::terminal::paint::Paint;
use crate::terminal::plan;

pub(super) async fn plan(scene: &Scene, run: &str, follow: bool) -> anyhow::Result<Exit> {
    let run = id_of(run, "run")?;
    let client = scene.client()?;
    let found: Run = client.get(&format!("/v1/runs/{run}")).await?;
    let plans = read(&client, run).await?;
    show(scene, &plans)?;
    if plans.is_empty() && !scene.json {
        written(&client, &found).await?;
    }
    if follow && !found.status.is_terminal() {
        return follow_on(scene, &client, found, plans).await;
    }
    Ok(Exit::Ok)
}

async fn read(client: &Client, run: &str) -> anyhow::Result<Vec<Plan>> {
    let list: List<Plan> = client.get(&format!("/v1/runs/{run}/plans")).await?;
    Ok(list.items)
}

fn show(scene: &Scene, plans: &[Plan]) -> anyhow::Result<()> {
    if scene.json {
        return print_json(&List { items: plans.to_vec(), next_cursor: None });
    }
    for (i, plan) in plans.iter().enumerate() {
        if i > 0 {
            print_text("");
        }
        print_lines(&plan::render(plan, Paint::stdout()));
    }
    Ok(())
}

/// Prints the plans that agents of the run submitted for approval, with the outcomes. Used if no plan of the run is a
/// graph.
async fn written(client: &Client, run: &Run) -> anyhow::Result<()> {
    let paint = Paint::stdout();
    let asked = client.list("/v1/interrupts", &[("run", run.id.as_str())]).await?;
    let asked: Vec<Interrupt> = asked.into_iter().map(serde_json::from_value).collect::<Result<_, _>>()?;
    let plans: Vec<&Interrupt> = asked.iter().filter(|each| each.kind == Kind::PlanApproval).collect();
    for plan in &plans {
        if let Some(decided) = card::resolution(plan, paint) {
            let show = format!("{} show {}{}", holdshort(), plan.id, client.server_arguments());
            print_lines(&paint.message(&format!("A plan by an agent, {decided}: `{show}` shows it."), 2));
            continue;
        }
        print_lines(&card::render(plan, View { paint, uncut: true, alone: true, said: "" }));
        let decide = format!("{} decide {} OPTION{}", holdshort(), plan.id, client.server_arguments());
        print_lines(&paint.fold(&format!("  The plan waits for a decision: `{decide}`"), 2));
    }
    if plans.is_empty() {
        let yet = if run.status.is_terminal() { "" } else { " yet" };
        let show = format!("{} show {}{}", holdshort(), run.id, client.server_arguments());
        print_lines(&paint.message(&format!("This run has no plan{yet}. Its state: `{show}`."), 0));
    }
    Ok(())
}

async fn follow_on(scene: &Scene, client: &Client, run: Run, mut known: Vec<Plan>) -> anyhow::Result<Exit> {
    let mut events = Events::follow(client, &run.id, run.seq, Watched::now());
    while let Some(item) = events.next().await {
        let ends = match item {
            Item::Event(event, _) => event.ends_run(),
            Item::Preview(_) => continue,
            Item::Lost => {
                print_message("The connection to the server is lost; reconnecting …");
                continue;
            }
            Item::Back => {
                print_message("The server is back.");
                continue;
            }
            Item::Broken(error) => return Err(error),
        };
        // A failed read is retried at the next event.
        let now = match read(client, &run.id).await {
            Ok(now) => now,
            Err(error) if ends || !crate::client::is_passing(&error) => return Err(error),
            Err(_) => continue,
        };
        if now != known {
            changed(scene, &known, &now)?;
            known = now;
        }
        if ends {
            let run: Run = client.get(&format!("/v1/runs/{}", run.id)).await?;
            return Ok(exit_for_status(run.status));
        }
    }
    anyhow::bail!("the event stream ended unexpectedly")
}

/// Prints how plans have changed. A new plan is printed completely. For a known plan, one line is printed for each
/// subtask with a new status.
fn changed(scene: &Scene, known: &[Plan], now: &[Plan]) -> anyhow::Result<()> {
    if scene.json {
        return show(scene, now);
    }
    for plan in now {
        match known.iter().find(|old| old.phase == plan.phase) {
            Some(old) if plan::is_drawn_alike(old, plan) => {
                print_lines(&plan::moves(old, plan, Paint::stdout()));
            }
            Some(_) | None => {
                print_text("");
                print_lines(&plan::render(plan, Paint::stdout()));
            }
        }
    }
    Ok(())
}
