//! The stores under test, behind one way to open and to restart them.

use std::sync::Arc;

use holdshort_store::{Journal, Memory, Sqlite};
use tempfile::TempDir;

pub(crate) trait Subject: Sized {
    type Journal: Journal;

    fn open() -> Self;
    fn journal(&self) -> &Arc<Self::Journal>;
    /// As a server that stops and starts again.
    async fn restart(self) -> Self;
}

pub(crate) struct InMemory(Arc<Memory>);

impl Subject for InMemory {
    type Journal = Memory;

    fn open() -> Self {
        Self(Arc::new(Memory::new()))
    }

    fn journal(&self) -> &Arc<Memory> {
        &self.0
    }

    async fn restart(self) -> Self {
        Self(Arc::new(self.0.reopen()))
    }
}

pub(crate) struct InSqlite {
    journal: Arc<Sqlite>,
    folder: TempDir,
}

impl Subject for InSqlite {
    type Journal = Sqlite;

    fn open() -> Self {
        let folder = TempDir::new().unwrap();
        Self { journal: Arc::new(Sqlite::open(folder.path()).unwrap()), folder }
    }

    fn journal(&self) -> &Arc<Sqlite> {
        &self.journal
    }

    async fn restart(self) -> Self {
        self.journal.close().await.unwrap();
        Self { journal: Arc::new(Sqlite::open(self.folder.path()).unwrap()), folder: self.folder }
    }
}
