//! The bytes of files that changesets name, in the journal: there for every node, and for as long as they are needed
//! (`upkeep::bodies`).

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::BoxFuture;
use holdshort_core::digest::Digest;
use holdshort_store::{Blob, Error, Journal};

use crate::{Clock, SystemClock};

/// Where bodies are kept.
pub(super) trait Bodies: Send + Sync {
    fn put(&self, bodies: Vec<Blob>) -> BoxFuture<'_, Result<(), Error>>;
    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>>;
    /// Those that are kept no more. The others are needed now, and stay for a while.
    fn missing(&self, digests: Vec<Digest>) -> BoxFuture<'_, Result<BTreeSet<Digest>, Error>>;
}

impl<J: Journal> Bodies for Arc<J> {
    fn put(&self, bodies: Vec<Blob>) -> BoxFuture<'_, Result<(), Error>> {
        Box::pin(self.put_bodies(bodies, SystemClock.now()))
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async move {
            match self.body(&digest).await? {
                Some(body) => Ok(Some(body)),
                // A version before this one kept them with what is never dropped.
                None => self.blob(&digest).await,
            }
        })
    }

    fn missing(&self, digests: Vec<Digest>) -> BoxFuture<'_, Result<BTreeSet<Digest>, Error>> {
        Box::pin(async move {
            let mut missing: BTreeSet<Digest> = digests.iter().copied().collect();
            for kept in self.need_bodies(digests, SystemClock.now()).await? {
                missing.remove(&kept);
            }
            for digest in missing.clone() {
                if self.blob(&digest).await?.is_some() {
                    missing.remove(&digest);
                }
            }
            Ok(missing)
        })
    }
}
