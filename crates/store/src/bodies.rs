//! Contents of files that belong to changesets. The contents are needed to commit an approved change, and to undo a
//! committed change. A store deletes these contents after a limited time.

use std::collections::BTreeSet;
use std::future::Future;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::log::Blob;

/// Store of file contents, found by their digests. The store records when each content was last used.
pub trait Bodies: Send + Sync + 'static {
    /// Stores the contents of these files. Records `at` as the time when each content was last used, even if the
    /// content is already stored.
    fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> impl Future<Output = Result<(), Error>> + Send;

    fn body(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns the given digests whose contents are stored. Records `at` as the time when these contents were last
    /// used.
    fn need_bodies(
        &self,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> impl Future<Output = Result<BTreeSet<Digest>, Error>> + Send;

    /// Deletes a batch of file contents. First deletes the contents that were last used before the given time. Then
    /// deletes the contents that were used longest ago, until the rest has at most `most_bytes` in total. Returns the
    /// number of deleted contents. If the number is 0, there is nothing left to delete.
    fn drop_bodies(
        &self,
        before: Timestamp,
        most_bytes: u64,
    ) -> impl Future<Output = Result<usize, Error>> + Send;
}

/// Maximum number of file contents that are deleted in one transaction. The transaction must be short, because appends
/// of events wait until it ends.
pub(crate) const DROPPED_AT_ONCE: u32 = 200;
