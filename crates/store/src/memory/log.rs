//! The events of the journal in memory.

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::StreamId;
use tokio::sync::watch;

use super::{Memory, lock};
use crate::check;
use crate::journal::Error;
use crate::log::{Append, AppendError, Appended, Change, Key, Link, Log, Positioned};

impl Log for Memory {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        check::append(&append)?;
        self.state()?.append(self.node, append)
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        let state = self.state()?;
        Ok(state.events(stream).filter(|event| event.seq > after).take(limit).cloned().collect())
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        let state = self.state()?;
        let log = (1..).zip(&state.log).filter(|(position, _)| *position > after).take(limit);
        Ok(log.map(|(position, event)| Positioned { position, event: event.clone() }).collect())
    }

    fn watch(&self) -> watch::Receiver<u64> {
        lock(&self.state).position.subscribe()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        Ok(self.state()?.chain(stream))
    }

    async fn position(&self, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
        Ok(self.state()?.position(stream, seq))
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        let state = self.state()?;
        let all = (1..).zip(state.log.iter().zip(&state.heads));
        let link = |(position, (event, head)): (u64, (&Sealed, &Head))| Link {
            position,
            hash: event.hash,
            sealed: Some(*head),
        };
        let after = usize::try_from(after).unwrap_or(usize::MAX);
        Ok(all.map(link).skip(after).take(limit).collect())
    }

    async fn head(&self) -> Result<Head, Error> {
        Ok(self.state()?.head())
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        Ok(self.state()?.keys.get(&(scope.to_owned(), key.to_owned())).cloned())
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        let state = self.state()?;
        let after = after.map(|after| (after.scope.clone(), after.key.clone()));
        let rest = state.keys.iter().filter(|(place, _)| after.as_ref().is_none_or(|after| *place > after));
        Ok(rest.map(|(_, key)| key.clone()).take(limit).collect())
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.state()?.blobs.get(digest).cloned())
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        let tail = self.tail(after, limit).await?;
        let change =
            |Positioned { position, event }| Change { position, stream: event.stream, seq: event.seq };
        Ok(tail.into_iter().map(change).collect())
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        let state = self.state()?;
        let ids = state.streams.keys().filter(|id| after.is_none_or(|after| *id > after));
        Ok(ids.take(limit).cloned().collect())
    }

    /// Returns no faults, because a store in memory has no files that could be damaged.
    async fn inspect(&self) -> Result<Vec<String>, Error> {
        self.state().map(|_| Vec::new())
    }
}
