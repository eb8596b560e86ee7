//! Contents of the files in changesets, which are stored in the journal. Every node can read these contents.
//! `upkeep::bodies` deletes contents that are no longer needed.

use std::collections::BTreeSet;
use std::sync::Arc;

use holdshort_core::digest::Digest;
use holdshort_store::{Blob, Bodies as _, Error, Log, Store};

use crate::{Clock, SystemClock};

/// Store of the contents of changed files. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Bodies(Arc<Store>);

impl Bodies {
    pub(super) fn new(store: Arc<Store>) -> Self {
        Self(store)
    }

    pub(super) async fn put(&self, bodies: Vec<Blob>) -> Result<(), Error> {
        self.0.put_bodies(bodies, SystemClock.now()).await
    }

    pub(super) async fn get(&self, digest: Digest) -> Result<Option<Vec<u8>>, Error> {
        match self.0.body(&digest).await? {
            Some(body) => Ok(Some(body)),
            // An earlier version stored file contents as blobs, which are never deleted.
            None => self.0.blob(&digest).await,
        }
    }

    /// Returns the digests whose bytes are no longer in the journal. Records that the bytes in the journal were used,
    /// so that they are not deleted for a while.
    pub(super) async fn missing(&self, digests: Vec<Digest>) -> Result<BTreeSet<Digest>, Error> {
        let mut missing: BTreeSet<Digest> = digests.iter().copied().collect();
        for kept in self.0.need_bodies(digests, SystemClock.now()).await? {
            missing.remove(&kept);
        }
        for digest in missing.clone() {
            if self.0.blob(&digest).await?.is_some() {
                missing.remove(&digest);
            }
        }
        Ok(missing)
    }
}
