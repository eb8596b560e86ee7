//! Whose turn it is: of the agents that are told at one place, few are told at a time. One that is slow has its own wait, and keeps
//! nothing from the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::limits::CALLED_AT_HOST;

/// By place. One that nothing is sent to, and nobody waits for, is forgotten.
#[derive(Default)]
pub(super) struct Turns(Mutex<BTreeMap<String, Arc<Semaphore>>>);

impl Turns {
    /// Waits until one more may be told there. It is being told until this is dropped.
    pub(super) async fn at(&self, place: String) -> Option<OwnedSemaphorePermit> {
        let turns = {
            let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            places.retain(|_, turns| Arc::strong_count(turns) > 1);
            let turns = places.entry(place).or_insert_with(|| Arc::new(Semaphore::new(CALLED_AT_HOST)));
            turns.clone()
        };
        // Nobody closes it.
        turns.acquire_owned().await.ok()
    }
}
