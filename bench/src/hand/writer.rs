//! The loop's one writer: WAL, `synchronous=FULL`, and group commit. All jobs that wait share a transaction; the
//! answers go out after COMMIT.

use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use rusqlite::{Connection, params};
use tokio::sync::{mpsc, oneshot};

/// As in our own store, so that groups and checkpoints are the same.
const GROUP_LIMIT: usize = 256;
const QUEUE_LIMIT: usize = 1024;
const CHECKPOINT_PAGES: u32 = 4000;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS asks (
        id INTEGER PRIMARY KEY, payload TEXT NOT NULL, decision TEXT, step INTEGER NOT NULL DEFAULT 0
    ) STRICT;";

pub(super) enum Job {
    Ask {
        id: i64,
        payload: String,
    },
    Decide {
        id: i64,
        option: String,
    },
    /// A further durable commit of the same cycle.
    Follow {
        id: i64,
        step: u32,
    },
}

/// Dropped unanswered when its group failed.
type Answer = oneshot::Sender<()>;

pub(super) struct Writer(mpsc::Sender<(Job, Answer)>);

impl Writer {
    pub(super) fn open(database: &Path) -> Result<Self> {
        let connection = Connection::open(database)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
        connection.execute_batch(SCHEMA)?;
        let (queue, jobs) = mpsc::channel(QUEUE_LIMIT);
        thread::Builder::new().name("writer".to_owned()).spawn(move || work(&connection, jobs))?;
        Ok(Self(queue))
    }

    /// Durable when it returns.
    pub(super) async fn write(&self, job: Job) -> Result<()> {
        let (answer, committed) = oneshot::channel();
        self.0.send((job, answer)).await.context("the writer has ended")?;
        committed.await.context("the commit failed")
    }
}

fn work(connection: &Connection, mut jobs: mpsc::Receiver<(Job, Answer)>) {
    let mut group = Vec::with_capacity(GROUP_LIMIT);
    while jobs.blocking_recv_many(&mut group, GROUP_LIMIT) > 0 {
        match commit(connection, &group) {
            Ok(()) => {
                for (_, answer) in group.drain(..) {
                    let _gone = answer.send(());
                }
            }
            Err(_) if connection.execute_batch("ROLLBACK").is_ok() => group.clear(),
            Err(_) => return,
        }
    }
}

fn commit(connection: &Connection, group: &[(Job, Answer)]) -> rusqlite::Result<()> {
    connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    for (job, _) in group {
        match job {
            Job::Ask { id, payload } => connection
                .prepare_cached("INSERT INTO asks (id, payload) VALUES (?1, ?2)")?
                .execute(params![id, payload]),
            Job::Decide { id, option } => connection
                .prepare_cached("UPDATE asks SET decision = ?2 WHERE id = ?1 AND decision IS NULL")?
                .execute(params![id, option]),
            Job::Follow { id, step } => connection
                .prepare_cached("UPDATE asks SET step = ?2 WHERE id = ?1")?
                .execute(params![id, step]),
        }?;
    }
    connection.prepare_cached("COMMIT")?.execute([])?;
    Ok(())
}
