//! Contents of files that changesets name. A store keeps file contents for a limited time. They are needed to commit an
//! approved change, and to undo a committed change.

use std::collections::BTreeSet;
use std::future::Future;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::log::Blob;

/// Store of file contents by digest, each with the time of its last use.
pub trait Bodies: Send + Sync + 'static {
    /// Stores these files. If a file is already stored, only the time of its last use becomes `at`.
    fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> impl Future<Output = Result<(), Error>> + Send;

    fn body(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns the digests of those files that are stored, and sets the time of their last use to `at`.
    fn need_bodies(
        &self,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> impl Future<Output = Result<BTreeSet<Digest>, Error>> + Send;

    /// Drops a batch of files: first the files that were last used before this time, then the least recently used files
    /// until at most `most_bytes` are left in total. Returns the number of dropped files; 0 means that no further file
    /// has to be dropped.
    fn drop_bodies(
        &self,
        before: Timestamp,
        most_bytes: u64,
    ) -> impl Future<Output = Result<usize, Error>> + Send;
}

/// Maximum number of files that are dropped in one transaction, because appends wait during the transaction.
pub(crate) const DROPPED_AT_ONCE: u32 = 200;
