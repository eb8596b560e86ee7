//! Computes the root hashes of ranges in the Merkle tree over the journal. The root hashes of full blocks of events are
//! cached. Therefore a proof reads only the blocks at the ends of its ranges, and not the whole journal.

use std::ops::Range;
use std::sync::Arc;

use holdshort_core::digest::Digest;
use holdshort_core::head::Head;
use holdshort_core::tree::Growing;
use holdshort_store::{Error, Journal};
use tokio::sync::Mutex;

/// Number of events in a block. A journal of a million events has about a thousand blocks. The root hashes of these
/// blocks take 40 kB of memory.
const BLOCK: u64 = 1_024;
const BLOCK_LINKS: usize = 1_024;
/// Number of events that are read at a time while the Merkle tree grows.
const PAGE: usize = 4_096;

/// Full block of events, whose root hash is cached.
#[derive(Clone, Copy, Debug)]
struct Block {
    root: Digest,
    /// Position, in the journal, of the last event of the block.
    position: u64,
}

/// First part of the journal's Merkle tree: the part that has been computed so far.
#[derive(Clone, Debug)]
struct TreePrefix {
    blocks: Vec<Block>,
    /// Hashes of the events after the last full block.
    rest: Vec<Digest>,
    /// Position, in the journal, of the last event in the computed part of the tree.
    position: u64,
    first: Option<Digest>,
    /// Head of the journal's hash chain after the last event in the computed part of the tree.
    head: Head,
}

impl TreePrefix {
    const NOTHING: Self =
        Self { blocks: Vec::new(), rest: Vec::new(), position: 0, first: None, head: Head::START };

    fn size(&self) -> u64 {
        self.head.events
    }

    fn add(&mut self, event: Digest, position: u64) {
        self.first.get_or_insert(event);
        self.head = self.head.then(&event);
        self.position = position;
        self.rest.push(event);
        if self.rest.len() as u64 == BLOCK {
            let mut block = Growing::default();
            self.rest.drain(..).for_each(|event| block.event(&event));
            self.blocks.push(Block { root: block.root(), position });
        }
    }
}

/// Merkle tree over all events of a journal.
#[derive(Debug)]
pub struct Tree<J> {
    journal: Arc<J>,
    known: Mutex<TreePrefix>,
}

/// The Merkle tree at one point in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeSnapshot {
    /// Head of the journal. The number of events of this head is also the size of the tree.
    pub head: Head,
    pub root: Digest,
    /// Hash of the first event of the journal.
    pub first: Digest,
}

impl<J: Journal> Tree<J> {
    pub fn new(journal: Arc<J>) -> Self {
        Self { journal, known: Mutex::new(TreePrefix::NOTHING) }
    }

    /// Returns the Merkle tree over all events whose order is final. Returns `None` if there is no such event.
    pub async fn snapshot(&self) -> Result<Option<TreeSnapshot>, Error> {
        let known = self.catch_up().await?;
        let Some(first) = known.first else { return Ok(None) };
        let mut tree = Growing::default();
        known.blocks.iter().for_each(|block| tree.subtree(BLOCK, block.root));
        known.rest.iter().for_each(|event| tree.event(event));
        Ok(Some(TreeSnapshot { head: known.head, root: tree.root(), first }))
    }

    /// Returns the hashes at the roots of these ranges of the Merkle tree. A proof consists of such hashes. Each range
    /// must be within the tree.
    pub async fn proof(&self, ranges: &[Range<u64>]) -> Result<Vec<Digest>, Error> {
        let known = self.catch_up().await?;
        self.roots(&known, ranges).await
    }

    /// Returns the index of the event at this position in the journal, counted from 0. Returns `None` if there is no
    /// event at this position, or if its index is not final yet.
    pub async fn index(&self, position: u64) -> Result<Option<u64>, Error> {
        let known = self.catch_up().await?;
        if position == 0 || position > known.position {
            return Ok(None);
        }
        let block = known.blocks.partition_point(|block| block.position < position);
        let links = self.links(&known, block).await?;
        let at = links.iter().position(|link| link.position == position);
        Ok(at.map(|at| block as u64 * BLOCK + at as u64))
    }

    async fn catch_up(&self) -> Result<TreePrefix, Error> {
        let mut known = self.known.lock().await;
        loop {
            let links = self.journal.links(known.position, PAGE).await?;
            for link in &links {
                known.add(link.hash, link.position);
            }
            if links.len() < PAGE {
                return Ok(known.clone());
            }
        }
    }

    async fn roots(&self, known: &TreePrefix, ranges: &[Range<u64>]) -> Result<Vec<Digest>, Error> {
        let mut parts: Vec<Growing> = vec![Growing::default(); ranges.len()];
        for block in 0..=known.blocks.len() {
            let start = block as u64 * BLOCK;
            let end = (start + BLOCK).min(known.size());
            let mut leaves: Option<Vec<Digest>> = None;
            for (range, part) in ranges.iter().zip(&mut parts) {
                let within = range.start.max(start)..range.end.min(end);
                if within.is_empty() {
                    continue;
                }
                if within == (start..start + BLOCK)
                    && let Some(whole) = known.blocks.get(block)
                {
                    part.subtree(BLOCK, whole.root);
                    continue;
                }
                let leaves = match &mut leaves {
                    Some(leaves) => leaves,
                    none => none
                        .insert(self.links(known, block).await?.into_iter().map(|link| link.hash).collect()),
                };
                for index in within {
                    let at = usize::try_from(index - start).unwrap_or(usize::MAX);
                    let missing = || Error::Corrupt("events of the journal are missing".to_owned());
                    part.event(leaves.get(at).ok_or_else(missing)?);
                }
            }
        }
        Ok(parts.iter().map(Growing::root).collect())
    }

    /// Returns the events of the block with this index. If `block` equals the number of full blocks, returns the events
    /// after the last full block.
    async fn links(&self, known: &TreePrefix, block: usize) -> Result<Vec<holdshort_store::Link>, Error> {
        let after = block
            .checked_sub(1)
            .and_then(|before| known.blocks.get(before))
            .map_or(0, |block| block.position);
        self.journal.links(after, BLOCK_LINKS).await
    }
}
