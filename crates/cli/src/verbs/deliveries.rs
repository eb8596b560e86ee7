//! `deliveries` and `channels`: notifications, and the channels that send them.

use holdshort_protocol::{Attempt, Channel, Delivery, DeliveryState, List, Occasion, plain};
use serde_json::Value;

use super::Scene;
use crate::args::Deliveries;
use crate::client::{Client, id_of, segment};
use crate::exit::Exit;
use crate::limits::CHANNEL_DELIVERIES;
use crate::output::{print_json, print_lines, print_message, print_text};
use crate::plural::count;
use crate::program_name::holdshort;
use crate::terminal::paint::Paint;
use crate::terminal::time;

pub(super) async fn deliveries(scene: &Scene, verb: Option<Deliveries>) -> anyhow::Result<Exit> {
    match verb.unwrap_or(Deliveries::List { channel: None, state: None }) {
        Deliveries::List { channel, state } => list(scene, channel.as_deref(), state.as_deref()).await,
        Deliveries::Show { delivery } => {
            let path = format!("/v1/deliveries/{}", id_of(&delivery, "dlv")?);
            print_delivery(scene, scene.client()?.get(&path).await?)
        }
        Deliveries::Retry { delivery } => {
            let path = format!("/v1/deliveries/{}/retry", id_of(&delivery, "dlv")?);
            print_delivery(scene, scene.client()?.post(&path, &serde_json::json!({})).await?)
        }
    }
}

async fn list(scene: &Scene, channel: Option<&str>, state: Option<&str>) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let query = [("channel", channel), ("state", state)];
    let query: Vec<(&str, &str)> =
        query.into_iter().filter_map(|(key, value)| value.map(|value| (key, value))).collect();
    let items = client.list("/v1/deliveries", &query).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    if items.is_empty() {
        print_message(if query.is_empty() {
            "No notification was sent over a channel yet."
        } else {
            "No such delivery."
        });
    } else {
        print_message(&paint.dim(&format!(
            "{} deliveries show ID · retry ID{}",
            holdshort(),
            client.server_arguments()
        )));
    }
    for item in items {
        print_lines(&lines(&serde_json::from_value(item)?, paint));
    }
    Ok(Exit::Ok)
}

fn print_delivery(scene: &Scene, item: Value) -> anyhow::Result<Exit> {
    if scene.json {
        print_json(&item)?;
        return Ok(Exit::Ok);
    }
    let delivery: Delivery = serde_json::from_value(item)?;
    let paint = Paint::stdout();
    print_lines(&lines(&delivery, paint));
    for attempt in &delivery.tried {
        print_text(&format!("    {}", tried(attempt)));
        if let Some(answer) = &attempt.answer {
            print_lines(&paint.fold(&paint.dim(&format!("      {}", plain::line(answer))), 6));
        }
    }
    Ok(Exit::Ok)
}

fn lines(delivery: &Delivery, paint: Paint) -> Vec<String> {
    let Delivery { id, channel, event, interrupt, state, attempts, error, created_at, next_at, .. } =
        delivery;
    let event = wire_name(*event);
    let state = match state {
        DeliveryState::Waiting if delivery.sending => paint.yellow("being sent"),
        DeliveryState::Waiting if *attempts > 0 => paint.yellow("retrying"),
        DeliveryState::Waiting => paint.yellow("waiting"),
        DeliveryState::Delivered => paint.green("delivered"),
        DeliveryState::Failed => paint.red("failed"),
        DeliveryState::Dropped => paint.dim("dropped"),
    };
    let mut lines = vec![format!("{}  {state}  {}  {event}", paint.bold(id), plain::line(channel))];
    let next = next_at.as_ref().filter(|_| *attempts > 0);
    let next = next.map(|at| format!(", next at {at}")).unwrap_or_default();
    let tries = count(*attempts, "attempt");
    let about = interrupt.as_deref().unwrap_or("the journal");
    lines.push(paint.dim(&format!("    {about}, {}, {tries}{next}", time::ago(created_at))));
    if let Some(error) = error {
        lines.push(format!("    {}", plain::line(error)));
    }
    lines
}

fn wire_name(event: Occasion) -> String {
    let name = serde_json::to_value(event).ok();
    name.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn tried(attempt: &Attempt) -> String {
    let Attempt { number, at, took_ms, status, error, .. } = attempt;
    let came = match (status, error) {
        (_, Some(error)) => plain::line(error).into_owned(),
        (Some(status), None) => format!("answered {status}"),
        (None, None) => "no answer".to_owned(),
    };
    format!("{number}. {at}, {took_ms} ms: {came}")
}

/// Returns true if the server has tried to send one of the newest notifications of a channel.
async fn was_tried(client: &Client, channel: &str) -> anyhow::Result<bool> {
    let page: List<Delivery> = client
        .get(&format!("/v1/deliveries?channel={}&limit={CHANNEL_DELIVERIES}", segment(channel)))
        .await?;
    Ok(page.items.iter().any(|delivery| delivery.attempts > 0))
}

pub(super) async fn channels(scene: &Scene) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let items = client.list("/v1/channels", &[]).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    if items.is_empty() {
        print_message("No channel is configured: see `serve --channels FILE`.");
    }
    for item in items {
        let Channel { name, kind, failing_since, disabled_at, why } = serde_json::from_value(item)?;
        let state = match (&disabled_at, &failing_since) {
            (Some(at), _) => paint.red(&format!("disabled {}", time::ago(at))),
            (None, Some(since)) => paint.yellow(&format!("failing; first failure {}", time::ago(since))),
            (None, None) if was_tried(&client, &name).await? => paint.green("works"),
            (None, None) => paint.dim("no notification was sent recently"),
        };
        print_text(&format!("{}  {kind}  {state}", paint.bold(&plain::line(&name))));
        if let Some(why) = why {
            print_text(&format!("    {}", plain::line(&why)));
            print_text(&paint.dim(&format!(
                "    {} deliveries retry ID{} retries a delivery",
                holdshort(),
                client.server_arguments()
            )));
        }
    }
    Ok(Exit::Ok)
}
