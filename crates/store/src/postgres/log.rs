//! The events of the journal in PostgreSQL.

use std::sync::Arc;

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::StreamId;
use tokio::sync::watch;

use super::{Postgres, append, read, seal};
use crate::journal::Error;
use crate::log::{Append, AppendError, Appended, Change, Key, Link, Log, Positioned};

impl Log for Postgres {
    /// Writes the whole append or nothing. If the connection fails, returns an error, although the append may have been
    /// written.
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        append::check(&append)?;
        let open = Arc::clone(&self.open).read_owned().await;
        if !*open {
            return Err(Error::Closed.into());
        }
        self.node()?.check()?;
        let (pool, node, written) = (self.pool.clone(), self.node()?.id, Arc::clone(&self.written));
        // The append runs in a separate task. Therefore it completes even if the caller drops the future.
        let task = tokio::spawn(async move {
            let appended = append::append(&pool, node, &append).await?;
            written.advance_to(appended.position);
            drop(open);
            Ok(appended)
        });
        task.await.map_err(|error| Error::Io(Box::new(error)))?
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        read::events(&self.pool, stream, after, limit).await
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        read::tail(&self.pool, after, limit).await
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.position.clone()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        read::chain(&self.pool, stream).await
    }

    async fn position(&self, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
        read::position(&self.pool, stream, seq).await
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        seal::links(&self.pool, after, limit).await
    }

    async fn head(&self) -> Result<Head, Error> {
        match &self.node {
            Some(_) => seal::head(&self.pool).await,
            None => seal::head_unsealed(&self.pool).await,
        }
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        read::key(&self.pool, scope, key).await
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        read::keys(&self.pool, after, limit).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        read::blob(&self.pool, digest).await
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        read::changes(&self.pool, after, limit).await
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        read::streams(&self.pool, after, limit).await
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        seal::problems(&self.pool).await
    }
}
