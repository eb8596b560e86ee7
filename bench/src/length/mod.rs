//! `length`: the cost of a decision in runs of different lengths, and of the first decision after a restart. The server
//! is a separate process with a journal in SQLite.
//!
//! `report.rs` writes the table.

mod report;

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::cycle::{PAYLOAD_BYTES, key};
use crate::facts::Facts;
use crate::results::{self, Part};
use crate::server::Server;

/// Numbers of events in a run that are measured in addition to `--events`.
const LENGTHS: [u64; 2] = [50, 5_000];

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of events of the longest run.
    #[arg(long, default_value_t = 50_000)]
    events: u64,
    /// Number of decisions that are measured for each length.
    #[arg(long, default_value_t = 200)]
    decisions: usize,
    /// Also write the table to bench/.
    #[arg(long)]
    save: bool,
}

/// Costs of decisions in a run of one length.
struct Row {
    /// Number of events in the run before the first measured decision.
    events: u64,
    asks: Vec<Duration>,
    decisions: Vec<Duration>,
    /// Time of the first decision in the run after a restart, for which the server reads the run from the journal.
    first: Duration,
}

#[derive(Deserialize)]
struct Started {
    id: String,
}

#[derive(Deserialize)]
struct OpenedInterrupt {
    id: String,
}

#[derive(Deserialize)]
struct Decided {
    status: String,
}

#[derive(Deserialize)]
struct Run {
    seq: u64,
}

pub(crate) fn length(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    ensure!(options.decisions > 1, "too few decisions");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let rows = runtime.block_on(rows(options, binary, folder))?;
    let text = report::report(&Facts::collect(binary), options, &rows);
    if options.save {
        results::save(Part::Length, &text)?;
    }
    Ok(text)
}

async fn rows(options: &Options, binary: &Path, folder: &Path) -> Result<Vec<Row>> {
    let mut rows = Vec::new();
    let mut server = Server::ours(binary, folder)?;
    let mut people = People::connect(&server).await?;
    let run = people.start().await?;
    for events in LENGTHS.into_iter().filter(|events| *events < options.events).chain([options.events]) {
        while people.length(&run).await? < events {
            for _ in 0..10 {
                people.decide_on_another(&run).await?;
            }
        }
        let events = people.length(&run).await?;
        let (mut asks, mut decisions) = (Vec::new(), Vec::new());
        for _ in 0..options.decisions {
            let (asked, decided) = people.decide_on_another(&run).await?;
            asks.push(asked);
            decisions.push(decided);
        }
        let (asked, _) = people.ask(&run).await?;
        server.stop()?;
        server = Server::ours(binary, folder)?;
        people = People::connect(&server).await?;
        let first = people.decide(&asked.id).await?;
        eprintln!("{events} events: measured");
        rows.push(Row { events, asks, decisions, first });
    }
    server.stop()?;
    Ok(rows)
}

/// Connections of an agent, which asks, and of a person, who decides.
struct People {
    agent: Client,
    person: Client,
}

impl People {
    async fn connect(server: &Server) -> Result<Self> {
        let agent = Client::connect(&server.target, &server.target.agent).await?;
        let person = Client::connect(&server.target, &server.target.operator).await?;
        Ok(Self { agent, person })
    }

    async fn length(&mut self, run: &str) -> Result<u64> {
        let run: Run = self.person.get(&format!("/v1/runs/{run}")).await?;
        Ok(run.seq)
    }

    async fn start(&mut self) -> Result<String> {
        let body = json!({ "workflow": "external", "input": { "task": "Ask and go on." } });
        let run: Started = self.agent.create("/v1/runs", body.to_string().into(), Some(&key())).await?;
        Ok(run.id)
    }

    async fn ask(&mut self, run: &str) -> Result<(OpenedInterrupt, Duration)> {
        let payload = json!({ "note": "x".repeat(PAYLOAD_BYTES) });
        let body = json!({ "kind": "question", "title": "May this go on?", "payload": payload, "run": run });
        let began = Instant::now();
        let asked = self.agent.create("/v1/interrupts", body.to_string().into(), Some(&key())).await?;
        Ok((asked, began.elapsed()))
    }

    async fn decide(&mut self, interrupt: &str) -> Result<Duration> {
        let body = Bytes::from_static(br#"{"option":"answer","text":"yes"}"#);
        let began = Instant::now();
        let decided: Decided =
            self.person.post(&format!("/v1/interrupts/{interrupt}/decisions"), body).await?;
        let took = began.elapsed();
        ensure!(
            decided.status == "resolved",
            "the interrupt {interrupt} was decided, but its status is {} instead of resolved",
            decided.status
        );
        Ok(took)
    }

    /// Opens a further question in the run and answers it. Returns the durations of the question and of the answer.
    async fn decide_on_another(&mut self, run: &str) -> Result<(Duration, Duration)> {
        let (asked, took) = self.ask(run).await?;
        Ok((took, self.decide(&asked.id).await?))
    }
}
