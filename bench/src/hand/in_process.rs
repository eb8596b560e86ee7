//! The loop without HTTP, at concurrency 1: the floor of what a decision costs on this disk.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::desk::Desk;
use crate::cycle::PAYLOAD_BYTES;
use crate::load::Sample;

pub(crate) fn in_process(folder: &Path, commits: u32, time: Duration) -> Result<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let desk = Desk::open(folder, commits)?;
        let payload = "x".repeat(PAYLOAD_BYTES);
        let mut sample = Sample::default();
        let began = Instant::now();
        while began.elapsed() < time {
            let id = desk.ask(payload.clone()).await?;
            let asker = async {
                desk.wait(id).await?;
                anyhow::Ok(Instant::now())
            };
            let decider = async {
                let sent = Instant::now();
                desk.decide(id, "approve".to_owned()).await?;
                anyhow::Ok(sent)
            };
            let (done, sent) = tokio::try_join!(asker, decider)?;
            sample.latencies.push(done - sent);
        }
        sample.elapsed = began.elapsed();
        Ok(sample)
    })
}
