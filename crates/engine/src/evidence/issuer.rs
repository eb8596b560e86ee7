//! Gives checkpoints and receipts of a journal: the tree, and the key of this node.

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

/// The tree of a journal, and the key of this node.
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
    /// Its text, as it is kept and checked.
    pub note: String,
    /// The key that checks it, as tools for signed notes take it.
    pub key: String,
    pub at: Timestamp,
}

impl<J: Journal> Evidence<J> {
    pub fn new(journal: Arc<J>, signer: Signer) -> Self {
        Self { tree: Tree::new(journal.clone()), journal, signer }
    }

    /// Signs how the journal stands. The first time that its key signs, the journal says so before.
    pub async fn checkpoint<C: Clock, E: Executor>(
        &self,
        driver: &Arc<Driver<J, C, E>>,
    ) -> Result<Signed, Error> {
        let public = self.signer.key().to_string();
        if !driver.glance_system().await?.checkpoint_keys.contains(&public) {
            driver.change_system(Input::SetCheckpointKey { public }, Actor::engine()).await?;
        }
        // The journal has an event at least: that of the key. In a database it may not have its final place yet.
        let standing = self.tree.standing().await?.ok_or(Error::Busy)?;
        let origin = Checkpoint::origin(&standing.first);
        let key = self.signer.key().vkey(&origin);
        let checkpoint = Checkpoint { origin, size: standing.head.events, root: standing.root };
        let at = driver.clock().now();
        Ok(Signed { note: checkpoint.sign(&standing.head, at, &self.signer), checkpoint, key, at })
    }

    /// Every event that concerns an interrupt, proved to be in a checkpoint that is signed now.
    pub async fn receipt<C: Clock, E: Executor>(
        &self,
        driver: &Arc<Driver<J, C, E>>,
        run: &RunId,
        interrupt: &InterruptId,
    ) -> Result<(Signed, Receipt), Error> {
        let signed = self.checkpoint(driver).await?;
        let receipt = Receipt::of(&*self.journal, &self.tree, run, interrupt, signed.checkpoint.size).await?;
        Ok((signed, receipt.ok_or(Error::Busy)?))
    }

    /// The roots of these ranges, as a proof has them.
    pub async fn proof(&self, ranges: &[Range<u64>]) -> Result<Vec<Digest>, Error> {
        Ok(self.tree.proof(ranges).await?)
    }

    /// How many events have their final place.
    pub async fn size(&self) -> Result<u64, Error> {
        Ok(self.tree.standing().await?.map_or(0, |standing| standing.head.events))
    }
}
