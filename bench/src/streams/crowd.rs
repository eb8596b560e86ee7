//! Many clients on one server: the cost of idle clients, and the time until an event has reached all clients.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::de::IgnoredAny;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::board::Board;
use super::client::{Follower, Transport};
use crate::client::Client;
use crate::cycle::{self, Row};
use crate::server::Server;

/// Number of clients that connect to the server concurrently.
const AT_ONCE: usize = 64;
/// Pause between the connection of the last client and the measurement of idle memory.
const REST: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(100);

pub(super) struct Crowd {
    pub(super) way: Transport,
    pub(super) clients: usize,
    /// Time until all clients have received the position at which they start.
    pub(super) connected_after: Duration,
    /// Resident memory of the server in bytes: before the first client connects, while all clients are idle, and after
    /// all events.
    pub(super) memory: [u64; 3],
    /// Time from sending a request until half of the clients have the event that it causes, one entry per event.
    pub(super) half: Vec<Duration>,
    pub(super) all: Vec<Duration>,
    /// Time from sending a request until the server's response arrives, one entry per event.
    pub(super) answered: Vec<Duration>,
    /// Processor time per event that the server and all clients used.
    pub(super) processor: Duration,
    pub(super) clients_processor: Duration,
}

pub(super) fn measure(
    way: Transport,
    clients: usize,
    events: usize,
    binary: &Path,
    folder: &Path,
) -> Result<Crowd> {
    let server = Server::ours(binary, folder)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut asker = Client::connect(&server.target, &server.target.agent).await?;
        let (before, _) = server.memory()?;
        let began = Instant::now();
        let followers = connect(way, clients, &server).await?;
        let connected_after = began.elapsed();
        sleep(REST).await;
        let (idle, _) = server.memory()?;

        let board = Arc::new(Board::new(clients));
        let mut reading: JoinSet<Result<()>> = JoinSet::new();
        for follower in followers {
            reading.spawn(follower.follow(board.clone()));
        }
        let (mut half, mut all, mut answered) = (Vec::new(), Vec::new(), Vec::new());
        let (processor, own) = (server.processor()?, own_processor()?);
        for event in 0..events {
            let sent = Instant::now();
            let _: IgnoredAny =
                asker.create("/v1/interrupts", cycle::body(Row::External), Some(&cycle::key())).await?;
            answered.push(sent.elapsed());
            let reached = tokio::select! {
                reached = board.reached(event) => reached,
                Some(ended) = reading.join_next() => bail!("a client was lost: {:?}", ended?),
            };
            half.push(reached[clients / 2] - sent);
            all.push(reached[clients - 1] - sent);
            sleep(PAUSE).await;
        }
        let spent = server.processor()?.saturating_sub(processor);
        let own = own_processor()?.saturating_sub(own);
        let each = u32::try_from(events.max(1))?;
        let (after, _) = server.memory()?;
        Ok(Crowd {
            way,
            clients,
            connected_after,
            memory: [before, idle, after],
            half,
            all,
            answered,
            processor: spent / each,
            clients_processor: own / each,
        })
    })
}

/// Returns the processor time of the thread that runs all clients.
fn own_processor() -> Result<Duration> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let running = times.split(' ').next().unwrap_or_default();
    Ok(Duration::from_nanos(
        running.parse().context("the kernel does not report this program's processor time")?,
    ))
}

pub(super) async fn connect(way: Transport, clients: usize, server: &Server) -> Result<Vec<Follower>> {
    let mut followers = Vec::with_capacity(clients);
    let mut connecting = JoinSet::new();
    for client in 0..clients + AT_ONCE {
        if client < clients {
            let target = server.target.clone();
            connecting.spawn(async move { Follower::connect(way, &target).await });
        }
        if client >= AT_ONCE
            && let Some(follower) = connecting.join_next().await
        {
            followers.push(follower??);
        }
    }
    Ok(followers)
}
