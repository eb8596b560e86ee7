//! Merkle tree over all events (RFC 9162, part 2.1). This module computes the root of the tree. This module also finds
//! and checks proofs that the tree contains an event, or that the tree continues an earlier tree.
//!
//! The nth leaf is the hash of the nth event, in the order of positions. The hash of an event is also the end of its
//! stream's hash chain at that time. The tree therefore contains all earlier ends of these chains. This module never
//! reads events. A proof needs the roots of some ranges of leaves. This module names the ranges, and the caller
//! computes their roots.

use std::ops::Range;

use crate::digest::Digest;

/// Returns the hash of the leaf for an event.
pub fn leaf(event: &Digest) -> Digest {
    Digest::of_parts(&[&[0], event.as_bytes()])
}

fn node(left: &Digest, right: &Digest) -> Digest {
    Digest::of_parts(&[&[1], left.as_bytes(), right.as_bytes()])
}

/// Merkle tree to which leaves are added, and whose root can be computed at any time. The memory grows with the
/// logarithm of the number of leaves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Growing {
    /// Sizes and roots of the perfect subtrees of the Merkle tree, from left to right. Each subtree is smaller than the
    /// subtree before it.
    peaks: Vec<(u64, Digest)>,
}

impl Growing {
    /// Returns the number of leaves of the tree.
    pub fn size(&self) -> u64 {
        self.peaks.iter().map(|(size, _)| size).sum()
    }

    /// Adds the next event as a leaf of the tree.
    pub fn event(&mut self, event: &Digest) {
        self.subtree(1, leaf(event));
    }

    /// Adds a perfect subtree with `size` leaves. `size` must be a power of two. The current number of leaves must be a
    /// multiple of `size`.
    pub fn subtree(&mut self, size: u64, root: Digest) {
        debug_assert!(size.is_power_of_two() && self.size().is_multiple_of(size));
        let (mut size, mut root) = (size, root);
        while let Some((_, left)) = self.peaks.pop_if(|(before, _)| *before == size) {
            (size, root) = (size * 2, node(&left, &root));
        }
        self.peaks.push((size, root));
    }

    /// Returns the root of the tree over all leaves. If there are no leaves, returns the hash of zero bytes.
    pub fn root(&self) -> Digest {
        let roots = self.peaks.iter().rev().map(|(_, root)| *root);
        roots.reduce(|right, left| node(&left, &right)).unwrap_or_else(|| Digest::of_bytes(&[]))
    }
}

/// Returns the ranges whose roots prove that a tree of `size` leaves contains the leaf `index`. The ranges are in the
/// order from the leaf to the root. `None` if the tree has no leaf `index`.
pub fn inclusion(index: u64, size: u64) -> Option<Vec<Range<u64>>> {
    let (mut tree, mut path) = (0..size, Vec::new());
    if index >= size {
        return None;
    }
    while tree.end - tree.start > 1 {
        let middle = tree.start + split(tree.end - tree.start);
        let (own, other) = if index < middle {
            (tree.start..middle, middle..tree.end)
        } else {
            (middle..tree.end, tree.start..middle)
        };
        path.push(other);
        tree = own;
    }
    path.reverse();
    Some(path)
}

/// Returns the ranges whose roots prove that a tree of `size` leaves begins with the tree of the first `earlier`
/// leaves. `None` if the earlier tree is larger, or if it is empty, because an empty tree proves nothing.
pub fn consistency(earlier: u64, size: u64) -> Option<Vec<Range<u64>>> {
    if earlier == 0 || earlier > size {
        return None;
    }
    let (mut tree, mut proof, mut is_left_edge) = (0..size, Vec::new(), true);
    while tree.end != earlier {
        let middle = tree.start + split(tree.end - tree.start);
        if earlier <= middle {
            proof.push(middle..tree.end);
            tree.end = middle;
        } else {
            proof.push(tree.start..middle);
            tree.start = middle;
            is_left_edge = false;
        }
    }
    if !is_left_edge {
        proof.push(tree);
    }
    proof.reverse();
    Some(proof)
}

/// Returns the largest power of two that is less than `size`. `size` must be at least 2.
fn split(size: u64) -> u64 {
    1 << (u64::BITS - 1 - (size - 1).leading_zeros())
}

/// Returns true if `path` proves that `event` is the leaf `index` of the tree with this size and this root (RFC 9162,
/// 2.1.3.2).
pub fn is_included(event: &Digest, index: u64, size: u64, path: &[Digest], root: &Digest) -> bool {
    let Some(ranges) = inclusion(index, size).filter(|ranges| ranges.len() == path.len()) else {
        return false;
    };
    let up = |own: Digest, (range, other): (&Range<u64>, &Digest)| {
        if range.start > index { node(&own, other) } else { node(other, &own) }
    };
    ranges.iter().zip(path).fold(leaf(event), up) == *root
}

/// Returns true if `proof` proves that the second tree begins with all leaves of the first tree (RFC 9162, 2.1.4.2).
pub fn continues(first: (u64, &Digest), second: (u64, &Digest), proof: &[Digest]) -> bool {
    let ((earlier, earlier_root), (size, root)) = (first, second);
    if earlier == size {
        return proof.is_empty() && earlier_root == root;
    }
    let Some(ranges) = consistency(earlier, size).filter(|ranges| ranges.len() == proof.len()) else {
        return false;
    };
    let mut parts: Vec<(Range<u64>, Digest)> = ranges.into_iter().zip(proof.iter().copied()).collect();
    // If the earlier tree is perfect, the root of that tree is the first part of the proof.
    if parts.iter().all(|(range, _)| range.start >= earlier) {
        parts.insert(0, (0..earlier, *earlier_root));
    }
    let (mut own, mut whole): (Option<Digest>, Option<Digest>) = (None, None);
    for (range, part) in &parts {
        let join = |so_far: Option<Digest>| match so_far {
            None => *part,
            Some(so_far) if range.start >= earlier => node(&so_far, part),
            Some(so_far) => node(part, &so_far),
        };
        if range.start < earlier {
            own = Some(join(own));
        }
        whole = Some(join(whole));
    }
    own.as_ref() == Some(earlier_root) && whole.as_ref() == Some(root)
}
