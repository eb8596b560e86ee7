//! Recognises repeated requests by an idempotency key. Three kinds of request can have a key: the start of a run, the
//! request of an external agent for a decision, and the opening of a session.

use holdshort_core::digest::Digest;
use holdshort_store::{Journal, Key};

use super::Driver;
use crate::{Clock, Error, Executor};

/// Idempotency key of a request. A repeated request with the same scope, key and digest has no further effect and gets
/// the first result.
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
    /// Returns the id of the object that the first request with this key created.
    pub async fn made_with(&self, key: Option<&IdempotencyKey>) -> Result<Option<String>, Error> {
        let Some(key) = key else { return Ok(None) };
        let Some(record) = self.journal.key(&key.scope, &key.key).await? else { return Ok(None) };
        if record.digest == key.digest { Ok(Some(record.reference)) } else { Err(Error::KeyReused) }
    }
}
