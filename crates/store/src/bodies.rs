//! Contents of files that changesets refer to. File contents are needed to commit an approved change, and to undo a
//! committed change. A store deletes file contents after a limited time.

use std::collections::BTreeSet;
use std::future::Future;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::log::Blob;

/// Store of file contents by digest, each with the time of its last use.
pub trait Bodies: Send + Sync + 'static {
    /// Stores these files, and sets the time of their last use to `at`. Files that are already stored are not written
    /// again.
    fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> impl Future<Output = Result<(), Error>> + Send;

    fn body(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns those of the digests whose files are stored, and sets the time of last use of these files to `at`.
    fn need_bodies(
        &self,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> impl Future<Output = Result<BTreeSet<Digest>, Error>> + Send;

    /// Drops a batch of files: first the files that were last used before this time, then the least recently used
    /// files until at most `most_bytes` are left in total. Returns the number of dropped files. The result 0 means
    /// that no more files have to be dropped.
    fn drop_bodies(
        &self,
        before: Timestamp,
        most_bytes: u64,
    ) -> impl Future<Output = Result<usize, Error>> + Send;
}

/// Maximum number of files that are dropped in one transaction, because appends wait during the transaction.
pub(crate) const DROPPED_AT_ONCE: u32 = 200;
