//! Contents of files in the journal in memory.

use std::collections::BTreeSet;

use holdshort_core::digest::Digest;
use holdshort_core::time::Timestamp;

use super::Memory;
use crate::bodies::{Bodies, DROPPED_AT_ONCE};
use crate::journal::Error;
use crate::log::Blob;

impl Bodies for Memory {
    async fn put_bodies(&self, bodies: Vec<Blob>, at: Timestamp) -> Result<(), Error> {
        let mut state = self.state()?;
        for Blob { digest, bytes } in bodies {
            let kept = state.bodies.entry(digest).or_insert((at, bytes));
            kept.0 = kept.0.max(at);
        }
        Ok(())
    }

    async fn body(&self, digest: &Digest) -> Result<Option<Vec<u8>>, Error> {
        Ok(self.state()?.bodies.get(digest).map(|(_, bytes)| bytes.clone()))
    }

    async fn need_bodies(&self, digests: Vec<Digest>, at: Timestamp) -> Result<BTreeSet<Digest>, Error> {
        let mut state = self.state()?;
        let mut found = BTreeSet::new();
        for digest in digests {
            if let Some((needed_at, _)) = state.bodies.get_mut(&digest) {
                *needed_at = at.max(*needed_at);
                found.insert(digest);
            }
        }
        Ok(found)
    }

    async fn drop_bodies(&self, before: Timestamp, most_bytes: u64) -> Result<usize, Error> {
        let mut state = self.state()?;
        let mut newest_first: Vec<_> =
            state.bodies.iter().map(|(digest, (at, bytes))| (*at, *digest, bytes.len() as u64)).collect();
        newest_first.sort_by(|one, other| other.cmp(one));
        let mut upto = 0;
        let goes = |&(at, _, size): &(Timestamp, Digest, u64)| {
            upto += size;
            at < before || upto > most_bytes
        };
        let going: Vec<_> = newest_first.into_iter().filter(goes).collect();
        let oldest = going.iter().rev().take(DROPPED_AT_ONCE as usize);
        Ok(oldest.filter(|(_, digest, _)| state.bodies.remove(digest).is_some()).count())
    }
}
