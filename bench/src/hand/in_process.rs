//! Measures the hand-written loop without HTTP. A decision on this disk cannot cost less.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use super::desk::Desk;
use super::store::Database;
use crate::cycle::PAYLOAD_BYTES;
use crate::load::Sample;

/// Runs `concurrency` pairs of tasks of the hand-written loop at the same time, one that asks and one that decides.
pub(crate) fn in_process(database: &Database, concurrency: usize, time: Duration) -> Result<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let desk = Desk::open(database).await?;
        let began = Instant::now();
        let mut askers = JoinSet::new();
        for _ in 0..concurrency {
            askers.spawn(cycles(desk.clone(), began, time));
        }
        let mut sample = Sample::default();
        while let Some(latencies) = askers.join_next().await {
            sample.latencies.extend(latencies??);
        }
        sample.elapsed = began.elapsed();
        Ok(sample)
    })
}

async fn cycles(desk: Arc<Desk>, began: Instant, time: Duration) -> Result<Vec<Duration>> {
    let payload = "x".repeat(PAYLOAD_BYTES);
    let mut latencies = Vec::new();
    while began.elapsed() < time {
        let id = desk.ask(payload.clone()).await?;
        let asker = async {
            desk.wait(id).await?;
            anyhow::Ok(Instant::now())
        };
        let decider = async {
            let sent = Instant::now();
            desk.decide(id, "approve").await?;
            anyhow::Ok(sent)
        };
        let (done, sent) = tokio::try_join!(asker, decider)?;
        latencies.push(done - sent);
    }
    Ok(latencies)
}
