//! The bytes of files that changesets name, in the journal's blobs: there for every node, and for as long as the journal
//! keeps them.

use std::sync::Arc;

use futures::future::BoxFuture;
use holdshort_core::digest::Digest;
use holdshort_store::{Append, AppendError, Blob, Error, Log};

/// Where bodies are kept.
pub(super) trait Bodies: Send + Sync {
    fn put(&self, bodies: Vec<Blob>) -> BoxFuture<'_, Result<(), AppendError>>;
    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>>;
}

impl<L: Log> Bodies for Arc<L> {
    fn put(&self, bodies: Vec<Blob>) -> BoxFuture<'_, Result<(), AppendError>> {
        Box::pin(async move {
            self.append(Append { blobs: bodies, ..Append::default() }).await?;
            Ok(())
        })
    }

    fn get(&self, digest: Digest) -> BoxFuture<'_, Result<Option<Vec<u8>>, Error>> {
        Box::pin(async move { self.blob(&digest).await })
    }
}
