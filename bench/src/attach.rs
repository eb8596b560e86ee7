//! Load on a server that runs already, for a profiler beside it. Its workflows must hold the one of `cycle.rs`.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Result;

use crate::cycle::Row;
use crate::load::{self, Sample, Until};
use crate::server::Target;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// HOST:PORT, as the server printed it.
    address: SocketAddr,
    /// The operator's token.
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

pub(crate) fn attach(options: &Options) -> Result<Sample> {
    let target = Target {
        address: options.address,
        operator: options.token.clone(),
        agent: options.agent_token.clone(),
    };
    let until = Until::Time(Duration::from_secs(options.seconds));
    load::run(&target, options.row, options.concurrency, until)
}
