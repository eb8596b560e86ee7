//! Contents of files that changesets name. A store keeps them for a limited time: they are needed to commit an approved
//! change, and to undo a committed one.

use std::collections::BTreeSet;
use std::future::Future;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::log::Blob;

/// Contents of files by digest, each with the time of its last use.
pub trait Bodies: Send + Sync + 'static {
    /// Stores these files. A file that is already stored gets `at` as the time of its last use.
    fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> impl Future<Output = Result<(), Error>> + Send;

    fn body(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Returns which of these files are stored, and sets the time of their last use to `at`.
    fn need_bodies(
        &self,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> impl Future<Output = Result<BTreeSet<Digest>, Error>> + Send;

    /// Drops a batch of files: those last used before this time, then the least recently used until at most
    /// `most_bytes` are left. Returns how many it dropped; 0 means that the work is finished.
    fn drop_bodies(
        &self,
        before: Timestamp,
        most_bytes: u64,
    ) -> impl Future<Output = Result<usize, Error>> + Send;
}

/// Number of files dropped in one transaction. Other appends wait for the writer during that time.
pub(crate) const DROPPED_AT_ONCE: u32 = 200;
