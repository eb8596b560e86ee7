//! `streams`: many clients that follow one server. Measures the time until an event has reached all clients, the cost
//! of an idle client, and the server's behaviour with a client that does not read.
//!
//! `client.rs` follows events over server-sent events or WebSocket. `board.rs` keeps arrival times. `crowd.rs` measures
//! many clients, `slow.rs` a client that does not read.

mod board;
mod client;
mod crowd;
mod report;
mod slow;

use std::path::Path;

use anyhow::{Result, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::facts::Facts;
use crate::results::{self, Part};
use client::Transport;

/// Number of open files other than the clients' sockets: the database, the log, the runtime, and files of this program.
const OTHER_FILES: u64 = 200;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of clients that follow the server at the same time.
    #[arg(long, default_value_t = 10_000)]
    clients: usize,
    /// Number of events. They are sent one after the other.
    #[arg(long, default_value_t = 40)]
    events: usize,
    /// Skip the measurement of a client that does not read, which takes half a minute.
    #[arg(long)]
    no_slow: bool,
    /// Also write the table to bench/RESULTS.md.
    #[arg(long)]
    save: bool,
}

pub(crate) fn streams(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    let files = raise_files(options.clients as u64 + OTHER_FILES)?;
    let mut crowds = Vec::new();
    for way in [Transport::Events, Transport::Socket] {
        let folder = folder.join(way.as_str());
        std::fs::create_dir(&folder)?;
        crowds.push(crowd::measure(way, options.clients, options.events, binary, &folder)?);
    }
    let slow = if options.no_slow {
        None
    } else {
        let folder = folder.join("slow");
        std::fs::create_dir(&folder)?;
        Some(slow::measure(binary, &folder)?)
    };
    let command =
        format!("cargo xtask bench streams --clients {} --events {}", options.clients, options.events);
    let text = report::report(&Facts::collect(binary), &command, files, &mut crowds, slow);
    if options.save {
        results::save(Part::Streams, &text)?;
    }
    Ok(text)
}

/// Raises the limit of open files to the machine's maximum, for this program and its server. Returns the previous
/// limit.
fn raise_files(needed: u64) -> Result<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    ensure!(
        maximum.is_none_or(|maximum| maximum >= needed),
        "this machine allows a program {} open files, but {needed} are needed: raise `ulimit -Hn`, or lower --clients",
        maximum.unwrap_or_default(),
    );
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(current.unwrap_or(u64::MAX))
}
