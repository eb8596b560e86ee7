//! Issues checkpoints and receipts of a journal. Checkpoints and receipts are computed with the Merkle tree of the
//! journal and signed with the key of this node.

use std::ops::Range;
use std::sync::Arc;

use holdshort_core::actor::Actor;
use holdshort_core::digest::Digest;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::system::Input;
use holdshort_core::time::Timestamp;
use holdshort_store::Journal;

use super::note::Checkpoint;
use super::receipt::Receipt;
use super::signer::Signer;
use super::tree::Tree;
use crate::{Clock, Driver, Error, Executor};

/// The Merkle tree of a journal, and the key of this node.
#[derive(Debug)]
pub struct Evidence<J> {
    journal: Arc<J>,
    tree: Tree<J>,
    signer: Signer,
}

/// A checkpoint with its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    pub checkpoint: Checkpoint,
    /// Signed note of the checkpoint, in the form in which it is stored and verified.
    pub note: String,
    /// Public key that verifies the signed note, in the `NAME+HASH+KEY` format of signed notes.
    pub key: String,
    pub at: Timestamp,
}

impl<J: Journal> Evidence<J> {
    pub fn new(journal: Arc<J>, signer: Signer) -> Self {
        Self { tree: Tree::new(journal.clone()), journal, signer }
    }

    /// Signs the current state of the journal. Before the first signature with a key, an event records the key.
    pub async fn checkpoint<C: Clock, E: Executor>(
        &self,
        driver: &Arc<Driver<J, C, E>>,
    ) -> Result<Signed, Error> {
        let public = self.signer.key().to_string();
        if !driver.glance_system().await?.checkpoint_keys.contains(&public) {
            driver.change_system(Input::SetCheckpointKey { public }, Actor::engine()).await?;
        }
        // The journal has at least one event, because the key was recorded as an event. In a database, the position of
        // that event may not be final yet.
        let standing = self.tree.snapshot().await?.ok_or(Error::Busy)?;
        let origin = Checkpoint::origin(&standing.first);
        let key = self.signer.key().vkey(&origin);
        let checkpoint = Checkpoint { origin, size: standing.head.events, root: standing.root };
        let at = driver.clock().now();
        Ok(Signed { note: checkpoint.sign(&standing.head, at, &self.signer), checkpoint, key, at })
    }

    /// Returns every event that concerns an interrupt, each with a proof. The proof shows that the newly signed
    /// checkpoint includes the event.
    pub async fn receipt<C: Clock, E: Executor>(
        &self,
        driver: &Arc<Driver<J, C, E>>,
        run: &RunId,
        interrupt: &InterruptId,
    ) -> Result<(Signed, Receipt), Error> {
        let signed = self.checkpoint(driver).await?;
        let receipt =
            Receipt::for_interrupt(&*self.journal, &self.tree, run, interrupt, signed.checkpoint.size)
                .await?;
        Ok((signed, receipt.ok_or(Error::Busy)?))
    }

    /// Returns the hashes at the roots of these ranges of the Merkle tree. A proof consists of such hashes.
    pub async fn proof(&self, ranges: &[Range<u64>]) -> Result<Vec<Digest>, Error> {
        Ok(self.tree.proof(ranges).await?)
    }

    /// Returns the number of events whose position in the journal is final.
    pub async fn size(&self) -> Result<u64, Error> {
        Ok(self.tree.snapshot().await?.map_or(0, |standing| standing.head.events))
    }
}
