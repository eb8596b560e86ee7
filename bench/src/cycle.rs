//! One cycle over HTTP, by an agent and a person: start → pause → decide → done.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::json;

use crate::client::Client;
use crate::server::Target;

/// Name of the workflow in [`WORKFLOW_FILE`], which [`Row::Native`] runs.
const WORKFLOW: &str = "one-checkpoint";
pub(crate) const WORKFLOW_FILE: &str = "\
name: one-checkpoint
phases:
  - {id: gate, kind: checkpoint, message: May this go on?}
";

/// Size of an interrupt's payload, or of a run's input, in bytes of JSON.
pub(crate) const PAYLOAD_BYTES: usize = 500;

/// Maximum number of polls for an expected state of a run before the cycle fails.
const LOOKS: usize = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Row {
    /// An external agent opens an interrupt.
    External,
    /// A person starts a run of a workflow with one checkpoint.
    Native,
}

#[derive(Deserialize)]
struct Interrupt {
    id: String,
    status: String,
}

#[derive(Deserialize)]
struct Run {
    id: String,
    status: String,
    open_interrupts: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Items {
    items: Vec<Interrupt>,
}

/// Connections of an agent, which asks, and of a person, who decides.
pub(crate) struct Pair {
    row: Row,
    asker: Client,
    person: Client,
    body: Bytes,
    decision: Bytes,
    path: String,
}

impl Pair {
    pub(crate) async fn connect(target: &Target, row: Row) -> Result<Self> {
        let asker = match row {
            Row::External => &target.agent,
            // An agent's token may not start native runs.
            Row::Native => &target.operator,
        };
        Ok(Self {
            row,
            asker: Client::connect(target, asker).await?,
            person: Client::connect(target, &target.operator).await?,
            body: body(row),
            decision: Bytes::from_static(br#"{"option":"approve"}"#),
            path: String::new(),
        })
    }

    pub(crate) fn requests(&self) -> u64 {
        self.asker.sent + self.person.sent
    }

    /// Runs one cycle of start, pause and decision. Returns the time from sending the decision until the agent has the
    /// outcome.
    pub(crate) async fn cycle(&mut self) -> Result<Duration> {
        match self.row {
            Row::External => self.external().await,
            Row::Native => self.native().await,
        }
    }

    async fn external(&mut self) -> Result<Duration> {
        let asked: Interrupt = self.asker.create("/v1/interrupts", self.body.clone(), Some(&key())).await?;
        self.decide(&asked.id, None).await
    }

    async fn native(&mut self) -> Result<Duration> {
        let run: Run = self.asker.create("/v1/runs", self.body.clone(), None).await?;
        let interrupt = match run.open_interrupts.and_then(|open| open.into_iter().next()) {
            Some(interrupt) => interrupt,
            None => self.find(&run.id).await?,
        };
        self.decide(&interrupt, Some(&run.id)).await
    }

    async fn find(&mut self, run: &str) -> Result<String> {
        let path = format!("/v1/interrupts?status=open&run={run}");
        for _ in 0..LOOKS {
            let found: Items = self.asker.get(&path).await?;
            if let Some(interrupt) = found.items.into_iter().next() {
                return Ok(interrupt.id);
            }
        }
        anyhow::bail!("the run {run} opened no interrupt within {LOOKS} polls")
    }

    /// Decides on an interrupt for which the agent waits with a long poll. The poll is sent first, so that the agent is
    /// waiting when the decision is committed.
    pub(crate) async fn decide(&mut self, interrupt: &str, run: Option<&str>) -> Result<Duration> {
        let Self { asker, person, decision, path, .. } = self;
        path.clear();
        write!(path, "/v1/interrupts/{interrupt}/decisions")?;
        let waiting = async {
            let polled: Interrupt = asker.get(&format!("/v1/interrupts/{interrupt}?wait=25")).await?;
            ensure!(
                polled.status == "resolved",
                "the long poll returned before the interrupt {interrupt} was resolved: its status is {}",
                polled.status
            );
            if let Some(run) = run {
                completed(asker, run).await?;
            }
            Ok(Instant::now())
        };
        let deciding = async {
            let sent = Instant::now();
            let decided: Interrupt = person.post(path, decision.clone()).await?;
            ensure!(
                decided.status == "resolved",
                "the interrupt {interrupt} was decided, but its status is {} instead of resolved",
                decided.status
            );
            Ok(sent)
        };
        let (done, sent) = tokio::try_join!(waiting, deciding)?;
        Ok(done.saturating_duration_since(sent))
    }
}

async fn completed(asker: &mut Client, run: &str) -> Result<()> {
    let path = format!("/v1/runs/{run}");
    for _ in 0..LOOKS {
        let seen: Run = asker.get(&path).await.context("after the poll")?;
        match &*seen.status {
            "completed" => return Ok(()),
            "failed" | "cancelled" => {
                anyhow::bail!("the run {run} did not complete: its status is {}", seen.status)
            }
            _ => {}
        }
    }
    anyhow::bail!("the run {run} did not complete within {LOOKS} polls")
}

pub(crate) fn body(row: Row) -> Bytes {
    let text = |rest: usize| "x".repeat(PAYLOAD_BYTES - rest);
    let body = match row {
        Row::External => json!({
            "kind": "tool_approval", "title": "Deploy to production", "payload": {"note": text(r#"{"note":""}"#.len())},
        }),
        Row::Native => json!({"workflow": WORKFLOW, "input": {"task": text(r#"{"task":""}"#.len())}}),
    };
    body.to_string().into()
}

/// Returns an idempotency key that is unique in all rounds of the bench.
pub(crate) fn key() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("bench-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}
