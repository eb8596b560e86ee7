//! Puts load on a running server, so that a profiler can be attached to it. The server must have the workflow that
//! `cycle.rs` defines.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;

use crate::cycle::Row;
use crate::load::{self, Until};
use crate::server::Target;
use crate::stats::percentile;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// HOST:PORT, as the server printed it at startup.
    address: SocketAddr,
    /// Token of the operator.
    #[arg(long)]
    token: String,
    #[arg(long)]
    agent_token: String,
    #[arg(long, default_value = "external")]
    row: Row,
    #[arg(long, default_value_t = 1)]
    concurrency: usize,
    #[arg(long, default_value_t = 10)]
    seconds: u64,
}

pub(crate) fn attach(options: &Options) -> Result<String> {
    let target = Target {
        address: options.address,
        operator: options.token.clone(),
        agent: options.agent_token.clone(),
    };
    let until = Until::Time(Duration::from_secs(options.seconds));
    let mut sample = load::run(&target, options.row, options.concurrency, until)?;
    Ok(format!(
        "{} cycles, {:.0} per second; time from decision to done: median {} us, 99th percentile {} us",
        sample.latencies.len(),
        sample.cycles_per_second(),
        percentile(&mut sample.latencies, 50).as_micros(),
        percentile(&mut sample.latencies, 99).as_micros(),
    ))
}
