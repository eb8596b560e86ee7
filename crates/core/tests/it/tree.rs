//! The Merkle tree of RFC 9162: its roots, and proofs that are valid only for their own claim.

use std::ops::Range;

use holdshort_core::digest::Digest;
use holdshort_core::tree::{Growing, consistency, continues, inclusion, is_included, leaf};

fn event(n: u64) -> Digest {
    Digest::of_bytes(&n.to_be_bytes())
}

/// Computes the root recursively, as the RFC defines it.
fn root(range: &Range<u64>) -> Digest {
    match range.end - range.start {
        0 => Digest::of_bytes(&[]),
        1 => leaf(&event(range.start)),
        size => {
            let middle = range.start + (1 << (0..63).find(|bit| 2 << bit >= size).expect("a power"));
            let parts = [root(&(range.start..middle)), root(&(middle..range.end))];
            Digest::of_parts(&[&[1], parts[0].as_bytes(), parts[1].as_bytes()])
        }
    }
}

fn roots(ranges: &[Range<u64>]) -> Vec<Digest> {
    ranges.iter().map(root).collect()
}

/// The roots equal those in the test data of certificate transparency logs.
#[test]
fn known_leaves_have_their_known_roots() {
    let table = [
        ("", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"),
        ("00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"),
        ("10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"),
        ("2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"),
        ("3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"),
        ("40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"),
        ("5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"),
        (
            "606162636465666768696a6b6c6d6e6f",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ),
    ];
    let mut tree = Growing::default();
    assert_eq!(tree.root().to_string(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (data, expected) in table {
        let bytes: Vec<u8> = (0..data.len() / 2)
            .map(|at| u8::from_str_radix(&data[at * 2..at * 2 + 2], 16).unwrap())
            .collect();
        tree.subtree(1, Digest::of_parts(&[&[0], &bytes]));
        assert_eq!(tree.root().to_string(), expected, "{data}");
    }
}

#[test]
fn an_event_is_proved_where_it_is_and_nowhere_else() {
    let mut tree = Growing::default();
    for size in 1..=70 {
        tree.event(&event(size - 1));
        let whole = root(&(0..size));
        assert_eq!((tree.size(), tree.root()), (size, whole));
        for index in 0..size {
            let path = roots(&inclusion(index, size).unwrap());
            assert!(is_included(&event(index), index, size, &path, &whole), "{index} of {size}");
            assert!(!is_included(&event(index + 1), index, size, &path, &whole));
            assert!(!is_included(&event(index), index, size + 64, &path, &whole));
            assert!(!is_included(&event(index), index, size, &path, &event(0)));
            for other in (0..size).filter(|other| *other != index) {
                assert!(
                    !is_included(&event(index), other, size, &path, &whole),
                    "{index} as {other} of {size}"
                );
            }
            for at in 0..path.len() {
                let (mut less, mut changed) = (path.clone(), path.clone());
                less.remove(at);
                changed[at] = event(1_000);
                assert!(!is_included(&event(index), index, size, &less, &whole));
                assert!(!is_included(&event(index), index, size, &changed, &whole));
            }
        }
        assert_eq!(inclusion(size, size), None);
    }
}

#[test]
fn a_later_tree_continues_the_earlier_one() {
    for size in 1..=70 {
        let whole = root(&(0..size));
        for earlier in 1..=size {
            let proof = roots(&consistency(earlier, size).unwrap());
            let first = root(&(0..earlier));
            assert!(continues((earlier, &first), (size, &whole), &proof), "{earlier} to {size}");
            assert!(!continues((earlier, &event(0)), (size, &whole), &proof));
            assert!(!continues((earlier, &first), (size, &event(0)), &proof));
            for at in 0..proof.len() {
                let (mut less, mut changed) = (proof.clone(), proof.clone());
                less.remove(at);
                changed[at] = event(1_000);
                assert!(!continues((earlier, &first), (size, &whole), &less), "{earlier} to {size}");
                assert!(!continues((earlier, &first), (size, &whole), &changed), "{earlier} to {size}");
            }
        }
        assert_eq!((consistency(0, size), consistency(size + 1, size)), (None, None));
    }
}

/// The stored root of a complete subtree can replace the leaves of that subtree.
#[test]
fn a_perfect_subtree_is_added_whole() {
    let mut tree = Growing::default();
    tree.subtree(32, root(&(0..32)));
    tree.subtree(16, root(&(32..48)));
    (48..53).for_each(|n| tree.event(&event(n)));
    assert_eq!((tree.size(), tree.root()), (53, root(&(0..53))));
}
