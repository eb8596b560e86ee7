//! The events in SQLite. Appends are made by the writer thread, and reads by a pool of connections.

use holdshort_core::digest::Digest;
use holdshort_core::envelope::{Chain, Sealed};
use holdshort_core::head::Head;
use holdshort_core::id::StreamId;
use rusqlite::Connection;
use tokio::sync::{oneshot, watch};

use super::writer::Job;
use super::{Sqlite, chain, head_file, read, schema};
use crate::check;
use crate::journal::Error;
use crate::log::{Append, AppendError, Appended, Change, Key, Link, Log, Positioned};

impl Log for Sqlite {
    async fn append(&self, append: Append) -> Result<Appended, AppendError> {
        check::append(&append)?;
        let (reply, answer) = oneshot::channel();
        self.submit(Job::Append { append: Box::new(append), reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }

    async fn read(&self, stream: &StreamId, after: u64, limit: usize) -> Result<Vec<Sealed>, Error> {
        if limit == 1 {
            return self.pool.look(|connection| read::events(connection, stream, after, limit)).await;
        }
        let stream = stream.clone();
        self.pool.read(move |connection| read::events(connection, &stream, after, limit)).await
    }

    async fn tail(&self, after: u64, limit: usize) -> Result<Vec<Positioned>, Error> {
        self.pool.read(move |connection| read::tail(connection, after, limit)).await
    }

    fn watch(&self) -> watch::Receiver<u64> {
        self.position.clone()
    }

    async fn chain(&self, stream: &StreamId) -> Result<Chain, Error> {
        self.pool.look(|connection| read::chain(connection, stream)).await
    }

    async fn position(&self, stream: &StreamId, seq: u64) -> Result<Option<u64>, Error> {
        self.pool.look(|connection| read::position(connection, stream, seq)).await
    }

    async fn links(&self, after: u64, limit: usize) -> Result<Vec<Link>, Error> {
        self.pool.read(move |connection| chain::links(connection, after, limit)).await
    }

    async fn head(&self) -> Result<Head, Error> {
        self.pool.look(chain::head).await
    }

    async fn key(&self, scope: &str, key: &str) -> Result<Option<Key>, Error> {
        self.pool.look(|connection| read::key(connection, scope, key)).await
    }

    async fn keys(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Key>, Error> {
        let after = after.cloned();
        self.pool.read(move |connection| read::keys(connection, after.as_ref(), limit)).await
    }

    async fn blob(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let digest = *digest;
        self.pool.read(move |connection| read::blob(connection, &digest)).await
    }

    async fn changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Error> {
        self.pool.read(move |connection| read::changes(connection, after, limit)).await
    }

    async fn streams(&self, after: Option<&StreamId>, limit: usize) -> Result<Vec<StreamId>, Error> {
        let after = after.cloned();
        self.pool.read(move |connection| read::streams(connection, after.as_ref(), limit)).await
    }

    async fn inspect(&self) -> Result<Vec<String>, Error> {
        // If the files were replaced, a new connection would open the new files. Therefore the read is refused.
        if let Some(why) = self.status.as_ref().and_then(|status| status.displacement()) {
            return Ok(vec![why]);
        }
        let (files, log) = (self.files.clone(), self.log);
        let connect = || match log {
            Some(_) => schema::lone_reader(&files.database(), files.has_log()),
            None => schema::reader(&files.database()),
        };
        let folder = self.files.folder().to_owned();
        let inspect = move |connection: &Connection| {
            let mut problems = schema::check(connection)?;
            problems.extend(head_file::problems(&folder, connection, log)?);
            Ok(problems)
        };
        self.pool.read_apart(connect, inspect).await
    }
}
