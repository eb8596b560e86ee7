//! `turns`: the cost of one turn of a conversation with the shipped copilot, without the model. Measures events, bytes
//! of the journal, and milliseconds from a person's message until the next `turn` interrupt. The server is a separate
//! process with a journal in SQLite. This program simulates a model that replies at once, so that only the server's
//! costs are measured.
//!
//! `model.rs` simulates the model, and `report.rs` writes the table.

mod model;
mod report;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use self::model::Model;
use crate::client::Client;
use crate::facts::Facts;
use crate::load::count;
use crate::results::{self, Part};
use crate::server::Server;

/// Interval between two polls for the interrupt `turn`, which is also the precision of the measured time.
const LOOK: Duration = Duration::from_millis(1);
/// Maximum number of polls for the end of a copilot's turn before the measurement fails.
const LOOKS: usize = 60_000;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of turns per kind of turn. All turns are in one conversation.
    #[arg(long, default_value_t = 200)]
    turns: usize,
    /// Also write the table to bench/.
    #[arg(long)]
    save: bool,
}

/// Action of the copilot in a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Answers,
    /// In the turn, the copilot reads a file, then replies.
    Reads,
    /// In the turn, the copilot changes a file, which is approved at once, then replies.
    Changes,
}

const ROWS: [Does; 3] = [Does::Answers, Does::Reads, Does::Changes];

/// Figures for one kind of turn of a conversation.
struct Row {
    does: Does,
    took: Vec<Duration>,
    events: f64,
    /// Bytes of the data folder per turn, measured after the server has stopped.
    bytes: f64,
    /// Bytes of all requests to the simulated model, per turn. Each request includes all earlier messages.
    sent: f64,
}

#[derive(Deserialize)]
struct Session {
    id: String,
}

#[derive(Deserialize)]
struct Delivered {
    run: String,
}

#[derive(Deserialize)]
struct Interrupts {
    items: Vec<Interrupt>,
}

#[derive(Deserialize)]
struct Interrupt {
    id: String,
    kind: String,
}

#[derive(Deserialize)]
struct Run {
    seq: u64,
}

pub(crate) fn turns(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    ensure!(options.turns > 1, "too few turns");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let mut rows = Vec::new();
    for does in ROWS {
        let folder = folder.join(format!("{does:?}"));
        fs::create_dir_all(&folder)?;
        rows.push(runtime.block_on(row(does, options.turns, binary, &folder))?);
        eprintln!("{does:?}: measured");
    }
    let text = report::report(&Facts::collect(binary), options, &rows);
    if options.save {
        results::save(Part::Turns, &text)?;
    }
    Ok(text)
}

async fn row(does: Does, turns: usize, binary: &Path, folder: &Path) -> Result<Row> {
    let workspace = folder.join("workspace");
    fs::create_dir_all(&workspace)?;
    fs::write(workspace.join("notes.txt"), "A line of notes.\n".repeat(50))?;
    let model = Model::start(does).await?;
    let server = Server::with_model(binary, folder, &model.base_url())?;
    let mut person = Client::connect(&server.target, &server.target.operator).await?;
    let open = json!({ "workflow": "copilot", "config": { "workspace": fs::canonicalize(&workspace)? } });
    let session: Session = person.create("/v1/sessions", body(&open), None).await?;
    let path = format!("/v1/sessions/{}/messages", session.id);
    // The first message starts the run, which also gets all later messages. Sizes are compared while the server is
    // stopped: there is no write-ahead log then.
    let run = turn(&mut person, &path, 0).await?;
    drop(person);
    let data = server.data.clone();
    server.stop()?;
    let before = bytes(&data)?;
    let server = Server::with_model(binary, folder, &model.base_url())?;
    let mut person = Client::connect(&server.target, &server.target.operator).await?;
    let start: Run = person.get(&format!("/v1/runs/{run}")).await?;
    let sent = model.sent();
    let mut took = Vec::new();
    for n in 1..=turns {
        let began = Instant::now();
        let heard = turn(&mut person, &path, n).await?;
        took.push(began.elapsed());
        ensure!(heard == run, "another run began");
    }
    let end: Run = person.get(&format!("/v1/runs/{run}")).await?;
    let sent = model.sent() - sent;
    server.stop()?;
    let each = |n: u64| count(n) / count(turns as u64);
    Ok(Row {
        does,
        took,
        events: each(end.seq - start.seq),
        bytes: each(bytes(&data)?.saturating_sub(before)),
        sent: each(sent),
    })
}

/// Sends a message to the copilot, approves its calls, and waits until its turn has ended.
async fn turn(person: &mut Client, path: &str, n: usize) -> Result<String> {
    let said: Delivered = person.post(path, body(&json!({ "text": format!("Go on with {n}.") }))).await?;
    let open = format!("/v1/interrupts?status=open&run={}", said.run);
    for _ in 0..LOOKS {
        let asked: Interrupts = person.get(&open).await?;
        match asked.items.first() {
            Some(asked) if asked.kind == "turn" => return Ok(said.run),
            Some(asked) => {
                let decide = format!("/v1/interrupts/{}/decisions", asked.id);
                let _: Value = person.post(&decide, body(&json!({ "option": "approve" }))).await?;
            }
            None => tokio::time::sleep(LOOK).await,
        }
    }
    anyhow::bail!("after turn {n} no `turn` interrupt opened")
}

fn body(value: &Value) -> Bytes {
    Bytes::from(value.to_string())
}

fn bytes(folder: &Path) -> Result<u64> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("the directory {} cannot be read", folder.display()))?;
    entries.map(|entry| Ok(entry?.metadata()?.len())).sum()
}
