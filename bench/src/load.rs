//! Runs cycles with a given concurrency for a given time.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::cycle::{Pair, Row};
use crate::server::Target;

#[derive(Default)]
pub(crate) struct Sample {
    pub(crate) elapsed: Duration,
    /// Time from the decision until the agent has the outcome, one entry per cycle.
    pub(crate) latencies: Vec<Duration>,
    pub(crate) requests: u64,
}

impl Sample {
    pub(crate) fn cycles_per_second(&self) -> f64 {
        count(self.latencies.len()) / self.elapsed.as_secs_f64()
    }

    pub(crate) fn requests_per_cycle(&self) -> f64 {
        count(self.requests) / count(self.latencies.len())
    }
}

/// Converts a count to `f64`. Counts in the bench are far below 2^52, so no precision is lost.
#[expect(clippy::cast_precision_loss, reason = "small counts are exact in f64")]
pub(crate) fn count(n: impl TryInto<u64>) -> f64 {
    n.try_into().unwrap_or_default() as f64
}

/// Condition at which a measurement ends.
#[derive(Clone, Copy)]
pub(crate) enum Until {
    Time(Duration),
    /// The measurement ends after this number of cycles per pair of connections.
    Cycles(u64),
}

/// Runs cycles on all connections to a server in one thread, which leaves another core for the server.
pub(crate) fn run(target: &Target, row: Row, concurrency: usize, until: Until) -> Result<Sample> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut pairs = Vec::new();
        for _ in 0..concurrency {
            pairs.push(Pair::connect(target, row).await?);
        }
        let began = Instant::now();
        let mut tasks = JoinSet::new();
        for pair in pairs {
            tasks.spawn(cycles(pair, began, until));
        }
        let mut sample = Sample::default();
        while let Some(done) = tasks.join_next().await {
            let (latencies, requests) = done??;
            sample.latencies.extend(latencies);
            sample.requests += requests;
        }
        sample.elapsed = began.elapsed();
        Ok(sample)
    })
}

async fn cycles(mut pair: Pair, began: Instant, until: Until) -> Result<(Vec<Duration>, u64)> {
    let mut latencies = Vec::new();
    loop {
        let over = match until {
            Until::Time(time) => began.elapsed() >= time,
            Until::Cycles(cycles) => count(latencies.len()) >= count(cycles),
        };
        if over {
            return Ok((latencies, pair.requests()));
        }
        latencies.push(pair.cycle().await?);
    }
}

/// Returns the median time of an HTTP round trip in which the server does no work.
pub(crate) fn round_trip(target: &Target) -> Result<Duration> {
    const TRIPS: usize = 2_000;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut client = crate::client::Client::connect(target, &target.agent).await?;
        let mut trips = Vec::with_capacity(TRIPS);
        for _ in 0..TRIPS {
            let sent = Instant::now();
            client.touch("/healthz").await?;
            trips.push(sent.elapsed());
        }
        Ok(crate::stats::percentile(&mut trips, 50))
    })
}
