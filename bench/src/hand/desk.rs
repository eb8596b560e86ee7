//! Ask, wait, decide: the whole of the loop, without HTTP.

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags, OptionalExtension};

use super::waiters::Waiters;
use super::writer::{Job, Writer};

const DATABASE: &str = "loop.db";

pub(super) struct Desk {
    writer: Writer,
    waiters: Waiters,
    reader: Mutex<Connection>,
    next: AtomicI64,
    /// Durable commits of one cycle; the first asks, the second decides, the others follow by themselves.
    commits: u32,
}

impl Desk {
    pub(super) fn open(folder: &Path, commits: u32) -> Result<Arc<Self>> {
        let database = folder.join(DATABASE);
        let writer = Writer::open(&database)?;
        let reader = Connection::open_with_flags(
            &database,
            OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
        )?;
        let last: Option<i64> = reader.query_row("SELECT max(id) FROM asks", [], |row| row.get(0))?;
        let waiters = Waiters::default();
        for id in
            reader.prepare("SELECT id FROM asks WHERE decision IS NULL")?.query_map([], |row| row.get(0))?
        {
            waiters.open(id?);
        }
        Ok(Arc::new(Self {
            writer,
            waiters,
            reader: Mutex::new(reader),
            next: AtomicI64::new(last.unwrap_or(0) + 1),
            commits,
        }))
    }

    pub(super) async fn ask(&self, payload: String) -> Result<i64> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.waiters.open(id);
        self.writer.write(Job::Ask { id, payload }).await?;
        Ok(id)
    }

    /// Durable when it returns.
    pub(super) async fn decide(self: &Arc<Self>, id: i64, option: String) -> Result<()> {
        self.writer.write(Job::Decide { id, option: option.clone() }).await?;
        if self.commits <= 2 {
            self.waiters.resolve(id, &option);
        } else {
            let desk = self.clone();
            tokio::spawn(async move { desk.follow(id, &option).await });
        }
        Ok(())
    }

    async fn follow(&self, id: i64, option: &str) {
        for step in 2..self.commits {
            if self.writer.write(Job::Follow { id, step }).await.is_err() {
                return;
            }
        }
        self.waiters.resolve(id, option);
    }

    /// The option that was chosen, once it was.
    pub(super) async fn wait(&self, id: i64) -> Result<String> {
        match self.waiters.wait(id) {
            Some(decided) => decided.await.context("the loop has ended"),
            None => self.decision(id)?.context("nobody asked that"),
        }
    }

    pub(super) fn decision(&self, id: i64) -> Result<Option<String>> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let mut statement = reader.prepare_cached("SELECT decision FROM asks WHERE id = ?1")?;
        let row = statement.query_row([id], |row| row.get::<_, Option<String>>(0));
        Ok(row.optional()?.flatten())
    }
}
