//! Contents of files in PostgreSQL. Each statement locks rows in the order of their digests. Therefore nodes that store
//! the same files do not deadlock.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use super::Postgres;
use super::column::{digest, get};
use crate::bodies::{Bodies, DROPPED_AT_ONCE};
use crate::journal::Error;
use crate::log::Blob;

impl Bodies for Postgres {
    async fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> Result<(), Error> {
        let once: BTreeMap<&Digest, &[u8]> =
            bodies.iter().map(|body| (&body.digest, body.bytes.as_slice())).collect();
        let digests: Vec<&[u8]> = once.keys().map(|digest| digest.as_bytes().as_slice()).collect();
        let bytes: Vec<&[u8]> = once.values().copied().collect();
        let sql = "INSERT INTO bodies (digest, needed_at, size, bytes)
                   SELECT d, $3, length(b), b FROM unnest($1::bytea[], $2::bytea[]) AS new (d, b) ORDER BY d
                   ON CONFLICT (digest) DO UPDATE SET needed_at = greatest(bodies.needed_at, excluded.needed_at)";
        self.pool.query(sql, &[&digests, &bytes, &at.as_millis()]).await.map(drop)
    }

    async fn body(&self, wanted: &Digest) -> Result<Option<Vec<u8>>, Error> {
        let sql = "SELECT bytes FROM bodies WHERE digest = $1";
        let rows = self.pool.read(sql, &[&wanted.as_bytes().as_slice()]).await?;
        rows.first().map(|row| get(row, 0)).transpose()
    }

    async fn need_bodies(&self, digests: Vec<Digest>, at: Timestamp) -> Result<BTreeSet<Digest>, Error> {
        let digests: Vec<&[u8]> = digests.iter().map(|digest| digest.as_bytes().as_slice()).collect();
        let sql = "UPDATE bodies SET needed_at = greatest(bodies.needed_at, $2)
                   WHERE digest IN (
                       SELECT digest FROM bodies WHERE digest = ANY ($1) ORDER BY digest FOR UPDATE)
                   RETURNING digest";
        let rows = self.pool.query(sql, &[&digests, &at.as_millis()]).await?;
        rows.iter().map(|row| digest(row, 0)).collect()
    }

    async fn drop_bodies(&self, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
        // A file may be used while this statement waits for the lock of its row. `needed_at` then differs from the
        // selected value, and the file is not deleted.
        let sql = "DELETE FROM bodies USING (
                       SELECT aged.digest, aged.needed_at FROM (
                           SELECT digest, needed_at,
                                  sum(size) OVER (ORDER BY needed_at DESC, digest DESC) AS upto
                           FROM bodies) AS aged
                       WHERE aged.needed_at < $1 OR aged.upto > $2::bigint
                       ORDER BY aged.needed_at, aged.digest LIMIT $3) AS going
                   WHERE bodies.digest = going.digest AND bodies.needed_at = going.needed_at
                   RETURNING 1";
        let (most_bytes, at_once) =
            (i64::try_from(most_bytes).unwrap_or(i64::MAX), i64::from(DROPPED_AT_ONCE));
        Ok(self.pool.query(sql, &[&before.as_millis(), &most_bytes, &at_once]).await?.len())
    }
}
