//! Repeats of a request, recognised by its key: a start, an ask, the opening of a session.

use holdshort_core::digest::Digest;
use holdshort_store::{Journal, Key};

use super::Driver;
use crate::{Clock, Error, Executor};

/// Makes a repeated request harmless: same scope, key and digest give the same result.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    pub scope: String,
    pub key: String,
    pub digest: Digest,
}

impl IdempotencyKey {
    pub(super) fn record(&self, reference: String) -> Key {
        Key { scope: self.scope.clone(), key: self.key.clone(), digest: self.digest, reference }
    }
}

impl<J: Journal, C: Clock, E: Executor> Driver<J, C, E> {
    /// Returns the id that the first request with this key created.
    pub async fn made_with(&self, key: Option<&IdempotencyKey>) -> Result<Option<String>, Error> {
        let Some(key) = key else { return Ok(None) };
        let Some(record) = self.journal.key(&key.scope, &key.key).await? else { return Ok(None) };
        if record.digest == key.digest { Ok(Some(record.reference)) } else { Err(Error::KeyReused) }
    }
}
