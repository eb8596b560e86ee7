//! Creates waiting runs. Many agents open interrupts over HTTP at once, so that their appends share commits.

use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use serde::Deserialize;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::cycle::{self, Row};
use crate::server::Target;

/// Number of connections that open interrupts, which is also the number of appends that can share a commit.
const CONNECTIONS: usize = 256;
/// Interval, in interrupts, between those whose ids are returned, so that a measurement can decide on them later.
const REMEMBERED: u64 = 100;

#[derive(Deserialize)]
struct OpenedInterrupt {
    id: String,
}

/// Opens `asks` interrupts. Returns the ids for later measurements.
pub(super) fn fill(target: &Target, asks: u64) -> Result<Vec<String>> {
    static LEFT: AtomicU64 = AtomicU64::new(0);
    LEFT.store(asks, Ordering::Relaxed);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let body = cycle::body(Row::External);
        let mut tasks = JoinSet::new();
        for _ in 0..CONNECTIONS {
            let mut client = Client::connect(target, &target.agent).await?;
            let body = body.clone();
            tasks.spawn(async move {
                let mut ids = Vec::new();
                let next =
                    || LEFT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
                while let Ok(left) = next() {
                    let asked: OpenedInterrupt =
                        client.create("/v1/interrupts", body.clone(), Some(&cycle::key())).await?;
                    if left % REMEMBERED == 0 {
                        ids.push(asked.id);
                    }
                }
                anyhow::Ok(ids)
            });
        }
        let mut ids = Vec::new();
        while let Some(done) = tasks.join_next().await {
            ids.extend(done??);
        }
        Ok(ids)
    })
}
