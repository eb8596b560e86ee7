//! Contents of files that changesets refer to. They are needed to commit an approved change, and to undo a committed
//! change. A store deletes them after a limited time.

use std::collections::BTreeSet;
use std::future::Future;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::log::Blob;

/// Store of file contents by digest, each with the time of its last use.
pub trait Bodies: Send + Sync + 'static {
    /// Stores these files, and sets the time of their last use to `at`. If a file is already stored, only the time is
    /// set.
    fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> impl Future<Output = Result<(), Error>> + Send;

    fn body(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns the digests, out of the given ones, whose files are stored. Sets the time of last use of these files to
    /// `at`.
    fn need_bodies(
        &self,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> impl Future<Output = Result<BTreeSet<Digest>, Error>> + Send;

    /// Deletes a batch of files. Files whose last use was before this time come first. Then the least recently used
    /// files follow, until the remaining files have at most `most_bytes` in total. Returns the number of deleted files.
    /// If the number is 0, no more files have to be deleted.
    fn drop_bodies(
        &self,
        before: Timestamp,
        most_bytes: u64,
    ) -> impl Future<Output = Result<usize, Error>> + Send;
}

/// Maximum number of files that are deleted in one transaction. Appends wait during the transaction, so it must be
/// short.
pub(crate) const DROPPED_AT_ONCE: u32 = 200;
