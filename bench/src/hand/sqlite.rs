//! The hand-written loop in SQLite: WAL, `synchronous=FULL`, one writer with group commit. All waiting jobs share one
//! transaction, and are confirmed after its COMMIT.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use tokio::sync::{mpsc, oneshot};

const DATABASE: &str = "loop.db";
/// Limits that Holdshort's store has. They give the hand-written loop the same size of commit groups, pages and
/// checkpoints.
const GROUP_LIMIT: usize = 256;
const QUEUE_LIMIT: usize = 1024;
const PAGE_BYTES: u32 = 1024;
const CHECKPOINT_PAGES: u32 = 16_000;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS asks (
        id INTEGER PRIMARY KEY, payload TEXT NOT NULL, decision TEXT, step INTEGER NOT NULL DEFAULT 0
    ) STRICT;";

enum Job {
    Ask {
        id: i64,
        payload: String,
    },
    Decide {
        id: i64,
        option: String,
    },
    /// A further durable commit of a cycle in the hand-written loop.
    Follow {
        id: i64,
        step: u32,
    },
}

/// Channel that confirms a commit of the hand-written loop. It is dropped without a message if the commit fails.
type Answer = oneshot::Sender<()>;

pub(super) struct Sqlite {
    queue: mpsc::Sender<(Job, Answer)>,
    reader: Mutex<Connection>,
}

impl Sqlite {
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let database = folder.join(DATABASE);
        let connection = Connection::open(&database)?;
        connection.pragma_update(None, "page_size", PAGE_BYTES)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update_and_check(None, "wal_autocheckpoint", CHECKPOINT_PAGES, |_| Ok(()))?;
        connection.execute_batch(SCHEMA)?;
        let (queue, jobs) = mpsc::channel(QUEUE_LIMIT);
        thread::Builder::new().name("writer".to_owned()).spawn(move || work(&connection, jobs))?;
        let access = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let reader = Mutex::new(Connection::open_with_flags(&database, access)?);
        Ok(Self { queue, reader })
    }

    /// Returns the highest id of a question, and the ids of the open questions.
    pub(super) fn load_questions(&self) -> Result<(i64, Vec<i64>)> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let last: Option<i64> = reader.query_row("SELECT max(id) FROM asks", [], |row| row.get(0))?;
        let mut open = reader.prepare("SELECT id FROM asks WHERE decision IS NULL")?;
        let open = open.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok((last.unwrap_or(0), open))
    }

    pub(super) async fn ask(&self, id: i64, payload: String) -> Result<()> {
        self.write(Job::Ask { id, payload }).await
    }

    pub(super) async fn decide(&self, id: i64, option: String) -> Result<()> {
        self.write(Job::Decide { id, option }).await
    }

    pub(super) async fn follow(&self, id: i64, step: u32) -> Result<()> {
        self.write(Job::Follow { id, step }).await
    }

    pub(super) fn decision(&self, id: i64) -> Result<Option<String>> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let mut statement = reader.prepare_cached("SELECT decision FROM asks WHERE id = ?1")?;
        let row = statement.query_row([id], |row| row.get::<_, Option<String>>(0));
        Ok(row.optional()?.flatten())
    }

    /// Queues a job for the writer of the database, and waits until the job is committed.
    async fn write(&self, job: Job) -> Result<()> {
        let (answer, committed) = oneshot::channel();
        self.queue.send((job, answer)).await.context("the writer has ended")?;
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
