//! The hand-written loop, complete without HTTP: ask, wait, decide.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use anyhow::{Context, Result};

use super::store::{Database, Store};
use super::waiters::Waiters;

pub(super) struct Desk {
    store: Store,
    waiters: Waiters,
    next: AtomicI64,
    commits: u32,
}

impl Desk {
    pub(super) async fn open(database: &Database) -> Result<Arc<Self>> {
        let store = Store::open(database).await?;
        let (last, open) = store.load_questions().await?;
        let waiters = Waiters::default();
        for id in open {
            waiters.open(id);
        }
        Ok(Arc::new(Self { store, waiters, next: AtomicI64::new(last + 1), commits: database.commits() }))
    }

    pub(super) async fn ask(&self, payload: String) -> Result<i64> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        self.waiters.open(id);
        self.store.ask(id, payload).await?;
        Ok(id)
    }

    /// Records a person's decision on a question, which is durable when the function returns.
    pub(super) async fn decide(self: &Arc<Self>, id: i64, option: &str) -> Result<()> {
        self.store.decide(id, option).await?;
        if self.commits <= 2 {
            self.waiters.resolve(id, option);
        } else {
            let (desk, option) = (self.clone(), option.to_owned());
            tokio::spawn(async move { desk.follow(id, &option).await });
        }
        Ok(())
    }

    async fn follow(&self, id: i64, option: &str) {
        for step in 2..self.commits {
            if self.store.follow(id, step).await.is_err() {
                return;
            }
        }
        self.waiters.resolve(id, option);
    }

    /// Waits until a person has decided on a question. Returns the chosen option.
    pub(super) async fn wait(&self, id: i64) -> Result<String> {
        match self.waiters.wait(id) {
            Some(decided) => decided.await.context("the loop has ended"),
            None => self.decision(id).await?.context("nobody asked that"),
        }
    }

    pub(super) async fn decision(&self, id: i64) -> Result<Option<String>> {
        self.store.decision(id).await
    }
}
