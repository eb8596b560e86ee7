//! `reassign`, `delegate`, `snooze`, `withdraw`: actions on an open interrupt that do not resolve it.

use holdshort_protocol::{AskAssignment, Code, Delegate, Interrupt, Quorum, Reassign, Represented, Snooze};

use super::Scene;
use crate::client::{self, Client, id_of};
use crate::exit::Exit;
use crate::output::{print_json, print_lines, print_message_lines, print_text};
use crate::terminal::card;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn reassign(scene: &Scene, args: crate::args::Reassign) -> anyhow::Result<Exit> {
    let crate::args::Reassign { interrupt, to, group, required, all, text } = args;
    let some = |names: Vec<String>| (!names.is_empty()).then_some(names);
    let roles = if all { Represented::All } else { Represented::Any };
    let says = required.is_some() || all;
    let assignment = AskAssignment {
        approvers: some(to),
        groups: some(group),
        quorum: says.then(|| Quorum { required: required.unwrap_or(1), roles }),
        ..AskAssignment::default()
    };
    let body = Reassign { assignment, text };
    let shown = scene.client()?.post(&path(&interrupt, "reassign")?, &body).await?;
    print_assignment(scene, &shown)
}

pub(super) async fn delegate(
    scene: &Scene,
    interrupt: &str,
    to: String,
    from: Option<String>,
    until: Option<String>,
) -> anyhow::Result<Exit> {
    let shown = scene.client()?.post(&path(interrupt, "delegate")?, &Delegate { from, to, until }).await?;
    print_assignment(scene, &shown)
}

pub(super) async fn withdraw(scene: &Scene, interrupt: &str) -> anyhow::Result<Exit> {
    let shown = scene.client()?.delete(&path(interrupt, "decisions")?).await?;
    print_assignment(scene, &serde_json::from_value(shown)?)
}

pub(super) async fn snooze(scene: &Scene, args: crate::args::Snooze) -> anyhow::Result<Exit> {
    let crate::args::Snooze { interrupt, lasts, until, off: _ } = args;
    let ahead = |ms: u64| {
        let lasts = jiff::SignedDuration::from_millis(i64::try_from(ms)?);
        anyhow::Ok(format!("{:.3}", jiff::Timestamp::now().checked_add(lasts)?))
    };
    let until = lasts.map(ahead).transpose()?.or(until);
    let client = scene.client()?;
    let shown: Interrupt = match client.post(&path(&interrupt, "snooze")?, &Snooze { until }).await {
        Err(error) => {
            if client::code(&error) == Some(Code::NotAnApprover) && !scene.json {
                tell_who_may(&client, &interrupt).await;
            }
            return Err(error);
        }
        Ok(shown) => shown,
    };
    if scene.json {
        print_json(&shown)?;
        return Ok(Exit::Ok);
    }
    let until = shown.you.as_ref().and_then(|you| you.snoozed_until.as_deref());
    print_text(&until.map_or_else(
        || "The request is in your inbox again.".to_owned(),
        |at| format!("Hidden from your inbox until {}. Other approvers still see the request.", time::at(at)),
    ));
    Ok(Exit::Ok)
}

/// Prints the approvers of an interrupt and their votes. Prints nothing if the person may not read the interrupt.
async fn tell_who_may(client: &Client, interrupt: &str) {
    if let Ok(shown) = client.get::<Interrupt>(&format!("/v1/interrupts/{interrupt}")).await {
        print_message_lines(&card::assigned(&shown, Paint::stderr()));
    }
}

fn print_assignment(scene: &Scene, interrupt: &Interrupt) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(interrupt)?;
    } else {
        print_lines(&card::assigned(interrupt, Paint::stdout()));
    }
    Ok(Exit::Ok)
}

fn path(interrupt: &str, verb: &str) -> anyhow::Result<String> {
    Ok(format!("/v1/interrupts/{}/{verb}", id_of(interrupt, "int")?))
}
