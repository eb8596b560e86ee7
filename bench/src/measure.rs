//! Measures Holdshort and the hand-written loop alternately, for one kind of cycle.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use holdshort_testpg as testpg;

use crate::cycle::Row;
use crate::hand::Database;
use crate::load::{Until, count, round_trip};
use crate::plan::{CROWD, Plan};
use crate::server::Server;
use crate::{disk, hand, load, stats, wal};

/// Number of cycles in which commits are counted, small enough that SQLite does not restart the write-ahead log.
const COUNTED: u64 = 20;
/// Maximum number of attempts to count the commits of a cycle. An attempt fails if SQLite restarts the write-ahead log.
const TRIES: usize = 5;
/// Number of connections from the hand-written loop to PostgreSQL, and of concurrent agents when the loop runs without
/// HTTP.
pub(crate) const CONNECTIONS: usize = 32;

/// Figures of one measured program, Holdshort or the hand-written loop.
pub(crate) struct Side {
    /// Cycles per second of the program at concurrency 1, one entry per round.
    pub(crate) alone: Vec<f64>,
    /// Cycles per second of the program at concurrency [`CROWD`], one entry per round.
    pub(crate) together: Vec<f64>,
    /// Time from the decision until the agent has the outcome at concurrency 1, for all cycles of all rounds.
    pub(crate) latencies: Vec<Duration>,
    pub(crate) requests: f64,
    /// Durable commits per cycle of the program in SQLite. `None` in PostgreSQL, where they are not counted.
    pub(crate) commits: Option<f64>,
    pub(crate) log_bytes: f64,
    /// Flushes of the disk per cycle of the program, by all processes. Empty if the kernel does not count flushes.
    pub(crate) flushes_alone: Vec<f64>,
    pub(crate) flushes_together: Vec<f64>,
    pub(crate) cycles: usize,
    /// Current and peak resident memory of the program, in bytes.
    pub(crate) memory: (u64, u64),
}

pub(crate) struct Measured {
    pub(crate) row: Row,
    /// Version and durability settings of PostgreSQL. `None` if the measurement was made in SQLite.
    pub(crate) postgres: Option<String>,
    pub(crate) ours: Side,
    pub(crate) hand: Side,
    /// Figures of the hand-written loop without HTTP: cycles per second, and the median time from a decision to its
    /// outcome.
    pub(crate) in_process: (f64, Duration),
    /// Cycles per second of [`CONNECTIONS`] concurrent agents of the loop without HTTP. Measured only in PostgreSQL,
    /// where the loop has no group commit.
    pub(crate) many_in_process: Option<f64>,
    pub(crate) round_trip: Duration,
    pub(crate) syncs: Vec<f64>,
}

pub(crate) fn row(
    row: Row,
    plan: Plan,
    binary: &Path,
    folder: &Path,
    database: Option<&testpg::Server>,
) -> Result<Measured> {
    let server = match database {
        Some(database) => Server::ours_on(binary, folder, &database.database())?,
        None => Server::ours(binary, folder)?,
    };
    let mut ours = Side::warm(&server, row, plan, database)?;
    let of_loop = match database {
        Some(database) => Database::Url { url: database.database(), connections: CONNECTIONS },
        None => Database::Folder { folder: folder.join("loop"), commits: whole(ours.commits) },
    };
    let loop_server = Server::hand_written(folder, &of_loop)?;
    let mut hand = Side::warm(&loop_server, row, plan, database)?;
    let mut syncs = Vec::new();
    for _ in 0..plan.rounds {
        syncs.push(disk::syncs_per_second(folder, plan.syncs)?);
        ours.alone(&server, row, plan)?;
        hand.alone(&loop_server, row, plan)?;
        ours.together(&server, row, plan)?;
        hand.together(&loop_server, row, plan)?;
    }
    ours.memory = server.memory()?;
    hand.memory = loop_server.memory()?;
    let round_trip = round_trip(&loop_server.target)?;
    drop((server, loop_server));
    let mut alone = hand::in_process(&of_loop, 1, plan.alone)?;
    let in_process = (alone.cycles_per_second(), stats::percentile(&mut alone.latencies, 50));
    let many_in_process = match database {
        Some(_) => Some(hand::in_process(&of_loop, CONNECTIONS, plan.together)?.cycles_per_second()),
        None => None,
    };
    let postgres = database.map(version).transpose()?;
    Ok(Measured { row, postgres, ours, hand, in_process, many_in_process, round_trip, syncs })
}

impl Side {
    /// Warms up the measured server, then counts commits and bytes of write-ahead log per cycle.
    fn warm(server: &Server, row: Row, plan: Plan, database: Option<&testpg::Server>) -> Result<Self> {
        load::run(&server.target, row, CROWD, Until::Time(plan.warm_up))?;
        load::run(&server.target, row, 1, Until::Time(plan.warm_up))?;
        let (commits, log_bytes) = match database {
            Some(database) => (None, logged(database, server, row)?),
            None => counted(server, row).map(|(commits, bytes)| (Some(commits), bytes))?,
        };
        Ok(Self {
            alone: Vec::new(),
            together: Vec::new(),
            latencies: Vec::new(),
            requests: 0.0,
            commits,
            log_bytes,
            flushes_alone: Vec::new(),
            flushes_together: Vec::new(),
            cycles: 0,
            memory: (0, 0),
        })
    }

    fn alone(&mut self, server: &Server, row: Row, plan: Plan) -> Result<()> {
        let before = disk::flushes(&server.data);
        let sample = load::run(&server.target, row, 1, Until::Time(plan.alone))?;
        self.flushes_alone.extend(flushed(before, server, sample.latencies.len()));
        self.alone.push(sample.cycles_per_second());
        self.requests = sample.requests_per_cycle();
        self.cycles += sample.latencies.len();
        self.latencies.extend(sample.latencies);
        Ok(())
    }

    fn together(&mut self, server: &Server, row: Row, plan: Plan) -> Result<()> {
        let before = disk::flushes(&server.data);
        let sample = load::run(&server.target, row, CROWD, Until::Time(plan.together))?;
        self.flushes_together.extend(flushed(before, server, sample.latencies.len()));
        self.together.push(sample.cycles_per_second());
        self.cycles += sample.latencies.len();
        Ok(())
    }
}

/// Returns the durable commits per cycle and the bytes of write-ahead log per cycle, at concurrency 1.
fn counted(server: &Server, row: Row) -> Result<(f64, f64)> {
    for _ in 0..TRIES {
        let before = wal::read(&server.data)?;
        load::run(&server.target, row, 1, Until::Cycles(COUNTED))?;
        let after = wal::read(&server.data)?;
        if let Some((commits, bytes)) = wal::since(before, after) {
            return Ok((count(commits) / count(COUNTED), count(bytes) / count(COUNTED)));
        }
    }
    bail!("SQLite restarts the write-ahead log of {} too often to count commits", server.data.display())
}

/// Returns the bytes of PostgreSQL's write-ahead log per cycle.
fn logged(database: &testpg::Server, server: &Server, row: Row) -> Result<f64> {
    let written = || {
        let at = database.run("psql", &["-Atc", "SELECT pg_current_wal_lsn() - '0/0'"])?;
        at.trim().parse::<u64>().context("PostgreSQL did not report the end of its write-ahead log")
    };
    let before = written()?;
    load::run(&server.target, row, 1, Until::Cycles(COUNTED))?;
    Ok(count(written()? - before) / count(COUNTED))
}

/// Returns PostgreSQL's version and durability settings.
fn version(database: &testpg::Server) -> Result<String> {
    let ask = |sql| database.run("psql", &["-Atc", sql]).map(|said| said.trim().to_owned());
    let (version, fsync, commit) =
        (ask("SHOW server_version")?, ask("SHOW fsync")?, ask("SHOW synchronous_commit")?);
    Ok(format!("PostgreSQL {version}, `fsync={fsync}`, `synchronous_commit={commit}`"))
}

fn flushed(before: Option<u64>, server: &Server, cycles: usize) -> Option<f64> {
    let flushes = disk::flushes(&server.data)?.checked_sub(before?)?;
    Some(count(flushes) / count(cycles))
}

/// Returns the number of commits per cycle that the hand-written loop makes: Holdshort's number, rounded, but at least
/// two.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a handful")]
fn whole(commits: Option<f64>) -> u32 {
    commits.unwrap_or_default().round().max(2.0) as u32
}
