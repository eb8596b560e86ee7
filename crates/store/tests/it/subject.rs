//! The stores under test. `Subject` opens and restarts a store. `Cluster` adds nodes.

use std::sync::Arc;
use std::time::Duration;

use holdshort_store::postgres::Config;
use holdshort_store::{Journal, Leases, Memory, Postgres, Sqlite};
use tempfile::TempDir;

use crate::postgres::sql;

pub(crate) trait Subject: Sized {
    type Journal: Journal;

    async fn open() -> Self;
    fn journal(&self) -> &Arc<Self::Journal>;
    /// Closes the store and opens it again, like a server that restarts.
    async fn restart(self) -> Self;
}

/// A store that can have several nodes. `journal` returns the first node.
pub(crate) trait Cluster: Subject {
    /// Opens a further node on the same journal.
    async fn join(&self) -> Arc<Self::Journal>;
    /// Lets the leases of a node expire, as if the node had not renewed them in time.
    async fn lapse(&self, node: &Self::Journal);
    /// Renews the expired leases of a node.
    async fn revive(&self, node: &Self::Journal);
    /// Stops a node, so that other nodes can take its runs.
    async fn stop(&self, node: &Self::Journal);
}

pub(crate) struct InMemory(Arc<Memory>);

impl Subject for InMemory {
    type Journal = Memory;

    async fn open() -> Self {
        Self(Arc::new(Memory::shared()))
    }

    fn journal(&self) -> &Arc<Memory> {
        &self.0
    }

    async fn restart(self) -> Self {
        Self(Arc::new(self.0.reopen()))
    }
}

impl Cluster for InMemory {
    async fn join(&self) -> Arc<Memory> {
        Arc::new(self.0.join())
    }

    async fn lapse(&self, node: &Memory) {
        node.lapse();
    }

    async fn revive(&self, node: &Memory) {
        node.renew();
    }

    async fn stop(&self, node: &Memory) {
        node.lapse();
    }
}

/// A store in memory with a single node.
pub(crate) struct InOwnMemory(Arc<Memory>);

impl Subject for InOwnMemory {
    type Journal = Memory;

    async fn open() -> Self {
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

    async fn open() -> Self {
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

pub(crate) struct InPostgres {
    journal: Arc<Postgres>,
    url: String,
}

impl InPostgres {
    /// Opens a node with a lease that is longer than any test, so that the lease expires only when a test requests
    /// this.
    async fn node(url: &str) -> Arc<Postgres> {
        let config = Config { lease: Duration::from_hours(1), ..Config::new(url, "test") };
        Arc::new(Postgres::open(config).await.unwrap())
    }
}

impl Subject for InPostgres {
    type Journal = Postgres;

    async fn open() -> Self {
        let url = holdshort_testpg::shared().database();
        Self { journal: Self::node(&url).await, url }
    }

    fn journal(&self) -> &Arc<Postgres> {
        &self.journal
    }

    async fn restart(self) -> Self {
        self.journal.close().await.unwrap();
        Self { journal: Self::node(&self.url).await, url: self.url }
    }
}

impl Cluster for InPostgres {
    async fn join(&self) -> Arc<Postgres> {
        Self::node(&self.url).await
    }

    async fn lapse(&self, node: &Postgres) {
        let end = format!("UPDATE nodes SET alive_until = now() WHERE epoch = {}", node.epoch());
        sql(&self.url, &end).await;
    }

    async fn revive(&self, node: &Postgres) {
        let renew = format!(
            "UPDATE nodes SET alive_until = now() + interval '1 minute' WHERE epoch = {}",
            node.epoch()
        );
        sql(&self.url, &renew).await;
    }

    async fn stop(&self, node: &Postgres) {
        node.close().await.unwrap();
    }
}
