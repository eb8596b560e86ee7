//! Contents of files in SQLite. The writer thread makes all changes.

use std::collections::BTreeSet;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::sync::oneshot;

use super::Sqlite;
use super::column::{Hash, Number, Time};
use super::writer::Job;
use crate::bodies::{Bodies, DROPPED_AT_ONCE};
use crate::journal::Error;
use crate::log::Blob;

impl Bodies for Sqlite {
    async fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> Result<(), Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::PutBodies { bodies, at, reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }

    async fn body(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let digest = *digest;
        self.pool.read(move |connection| body(connection, &digest)).await
    }

    async fn need_bodies(&self, digests: Vec<Digest>, at: Timestamp) -> Result<BTreeSet<Digest>, Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::NeedBodies { digests, at, reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }

    async fn drop_bodies(&self, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
        let (reply, answer) = oneshot::channel();
        self.submit(Job::DropBodies { before, most_bytes, reply }).await?;
        answer.await.map_err(|_| self.unanswered())?
    }
}

pub(super) fn put(connection: &Connection, bodies: &[Blob], at: Timestamp) -> Result<(), Error> {
    let sql = "INSERT INTO bodies (digest, needed_at, size, bytes) VALUES (?1, ?2, ?3, ?4)
               ON CONFLICT (digest) DO UPDATE SET needed_at = max(needed_at, excluded.needed_at)";
    let mut statement = connection.prepare_cached(sql)?;
    for Blob { digest, bytes } in bodies {
        statement.execute(params![Hash(*digest), Time(at), Number(bytes.len() as u64), bytes])?;
    }
    Ok(())
}

fn body(connection: &Connection, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
    let mut statement = connection.prepare_cached("SELECT bytes FROM bodies WHERE digest = ?1")?;
    Ok(statement.query_row([Hash(*digest)], |row| row.get(0)).optional()?)
}

pub(super) fn need(
    connection: &Connection,
    digests: &[Digest],
    at: Timestamp,
) -> Result<BTreeSet<Digest>, Error> {
    let sql = "UPDATE bodies SET needed_at = max(needed_at, ?2) WHERE digest = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let mut found = BTreeSet::new();
    for digest in digests {
        if statement.execute(params![Hash(*digest), Time(at)])? > 0 {
            found.insert(*digest);
        }
    }
    Ok(found)
}

pub(super) fn drop(connection: &Connection, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
    let sql = "DELETE FROM bodies WHERE rowid IN (
                   SELECT id FROM (
                       SELECT rowid AS id, needed_at,
                              sum(size) OVER (ORDER BY needed_at DESC, rowid DESC) AS upto
                       FROM bodies)
                   WHERE needed_at < ?1 OR upto > ?2
                   ORDER BY needed_at, id LIMIT ?3)";
    Ok(connection.prepare_cached(sql)?.execute(params![Time(before), Number(most_bytes), DROPPED_AT_ONCE])?)
}
