//! `streams`: many clients that follow one server. How long until an event has reached all of them, what an idle
//! one costs, and what becomes of one that does not read.
//!
//! `client.rs` follows as server-sent events or over a WebSocket, `board.rs` notes when what arrived, `crowd.rs`
//! measures many, `slow.rs` one that does not read.

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
use client::Way;

/// Beside the sockets: the database, the log, the runtime, and what this program needs.
const OTHER_FILES: u64 = 200;

#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many clients follow at once.
    #[arg(long, default_value_t = 10_000)]
    clients: usize,
    /// How many events are sent, one after the other.
    #[arg(long, default_value_t = 40)]
    events: usize,
    /// Leave out the client that does not read: it takes half a minute.
    #[arg(long)]
    no_slow: bool,
    /// Write the table to bench/RESULTS.md too.
    #[arg(long)]
    save: bool,
}

/// Gives the table.
pub(crate) fn streams(options: &Options, binary: &Path, folder: &Path) -> Result<String> {
    let files = raise_files(options.clients as u64 + OTHER_FILES)?;
    let mut crowds = Vec::new();
    for way in [Way::Events, Way::Socket] {
        let folder = folder.join(way.word());
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
    let text = report::report(&Facts::of(binary), &command, files, &mut crowds, slow);
    if options.save {
        results::save(Part::Streams, &text)?;
    }
    Ok(text)
}

/// Lets this program, and the server that it starts, open as many files as the machine allows. Gives how many that
/// were at first.
fn raise_files(needed: u64) -> Result<u64> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    ensure!(
        maximum.is_none_or(|maximum| maximum >= needed),
        "this machine lets a program open {} files; {needed} are needed: raise `ulimit -Hn`, or take fewer --clients",
        maximum.unwrap_or_default(),
    );
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    Ok(current.unwrap_or(u64::MAX))
}
