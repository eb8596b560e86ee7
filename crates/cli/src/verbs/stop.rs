//! `stop`: ends a running command or its trial. Without a call id, it ends the only running command.

use std::collections::BTreeMap;

use holdshort_protocol::{Event, Note, Run, plain};

use super::Scene;
use crate::client::{Client, id_of};
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_text};
use crate::stream::{Events, Item, Watched};

pub(super) async fn stop(
    scene: &Scene,
    run: &str,
    call: Option<&str>,
    text: Option<String>,
) -> anyhow::Result<Exit> {
    let client = scene.client()?;
    let run = id_of(run, "run")?;
    let call = match call {
        Some(call) if is_id(call) => call.to_owned(),
        Some(call) => {
            return Err(usage(format!("`{}` is not the id of a call, such as call_1", plain::line(call))));
        }
        None => find_running_command(&client, run).await?,
    };
    let now: Run = client.post(&format!("/v1/runs/{run}/calls/{call}/stop"), &Note { text }).await?;
    if scene.json {
        print_json(&now)?;
    } else {
        print_text(&format!(
            "The command of the call {call} is stopped. The run continues, and the agent gets a message that \
            the command was stopped."
        ));
    }
    Ok(Exit::Ok)
}

/// Returns true if the text is a valid call id. The check is necessary because the id becomes part of a URL.
fn is_id(call: &str) -> bool {
    call.strip_prefix("call_").is_some_and(|number| number.parse::<u32>().is_ok())
}

/// Returns the id of a run's running command if exactly one command is running.
async fn find_running_command(client: &Client, run: &str) -> anyhow::Result<String> {
    let run: Run = client.get(&format!("/v1/runs/{run}")).await?;
    let none = || usage(format!("nothing was stopped: no command of the run {} is running", run.id));
    // A run that has ended sends no further events.
    if run.status.is_terminal() {
        return Err(none());
    }
    let mut commands = Commands::default();
    let mut events = Events::follow(client, &run.id, 0, Watched::now());
    let mut last = 0;
    while last < run.seq {
        match events.next().await {
            Some(Item::Event(event, _)) => {
                last = event.seq;
                commands.record_event(&event);
            }
            Some(Item::Broken(error)) => return Err(error),
            Some(Item::Lost | Item::Back | Item::Preview(_)) => {}
            None => anyhow::bail!("the event stream ended unexpectedly"),
        }
    }
    let at_work: Vec<&str> = commands.at_work().collect();
    match at_work.as_slice() {
        [] => Err(none()),
        [call] => Ok((*call).to_owned()),
        several => Err(usage(format!("several commands are running: name one of {}", several.join(", ")))),
    }
}

/// Commands of a run, by call id. The value is true while the command is running.
#[derive(Default)]
struct Commands(BTreeMap<String, bool>);

impl Commands {
    fn record_event(&mut self, event: &Event) {
        let listed = event.data.get("calls").and_then(serde_json::Value::as_array).into_iter().flatten();
        for each in listed.filter(|each| each["tool"] == "run_command") {
            self.0.insert(each["call"].as_str().unwrap_or_default().to_owned(), false);
        }
        let call = event.data.get("call").and_then(serde_json::Value::as_str).unwrap_or_default();
        let Some(is_at_work) = self.0.get_mut(call) else { return };
        match event.kind.as_str() {
            "trial_started" => *is_at_work = true,
            // A call with a changeset only writes the changeset, and cannot be stopped.
            "tool_started" => *is_at_work = event.data.get("changeset").is_none(),
            "tool_tried" | "trial_lost" | "trial_impossible" | "tool_finished" | "tool_returned"
            | "tool_lost" | "tool_doubted" => *is_at_work = false,
            _ => {}
        }
    }

    fn at_work(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|(_, is_at_work)| **is_at_work).map(|(call, _)| call.as_str())
    }
}
