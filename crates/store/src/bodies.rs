//! The bytes of files that changesets name. They are kept for a while, and not for ever: what they are needed for is to
//! commit a change that is released, and to take back one that was made.

use std::collections::BTreeSet;
use std::future::Future;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use crate::journal::Error;
use crate::log::Blob;

/// Files by their digests, each with the moment at which somebody last needed it.
pub trait Bodies: Send + Sync + 'static {
    /// Keeps these. One that is there already counts as needed at this moment.
    fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> impl Future<Output = Result<(), Error>> + Send;

    fn body(&self, digest: &Digest) -> impl Future<Output = Result<Option<Vec<u8>>, Error>> + Send;

    /// Which of these are there; from here on they count as needed at this moment.
    fn need_bodies(
        &self,
        digests: Vec<Digest>,
        at: Timestamp,
    ) -> impl Future<Output = Result<BTreeSet<Digest>, Error>> + Send;

    /// Drops some of those that were last needed before this moment, and of the others those that were needed the longest
    /// ago, until no more than so many bytes are left. How many it dropped: after 0 there is nothing more to drop.
    fn drop_bodies(
        &self,
        before: Timestamp,
        most_bytes: u64,
    ) -> impl Future<Output = Result<usize, Error>> + Send;
}

/// Dropped at once: others wait for the writer meanwhile.
pub(crate) const DROPPED_AT_ONCE: u32 = 200;
