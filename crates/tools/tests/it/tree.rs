//! A folder as a comparable value: every path below it, with its entry.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use holdshort_core::changeset::text_of;
use holdshort_core::digest::Digest;

/// File type, mode and content as one text, by path.
pub(crate) type Tree = BTreeMap<String, String>;

/// Returns each path that differs between two trees of files, with its entries in both.
pub(crate) fn differences(one: &Tree, other: &Tree) -> Vec<(String, Option<String>, Option<String>)> {
    let paths: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let stands = |path: &String| (path.clone(), one.get(path).cloned(), other.get(path).cloned());
    paths.into_iter().map(stands).filter(|(_, one, other)| one != other).collect()
}

/// Reads every entry below a folder. Omits owners and timestamps.
pub(crate) fn tree(folder: &Path) -> Tree {
    let mut found = Tree::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(at) = ahead.pop() {
        for entry in fs::read_dir(&at).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            let (kind, mode) = (metadata.file_type(), metadata.mode() & 0o7777);
            let stands = if kind.is_dir() {
                ahead.push(path.clone());
                format!("folder {mode:o}")
            } else if kind.is_symlink() {
                format!("link {}", text_of(fs::read_link(&path).unwrap().as_os_str().as_bytes()))
            } else if kind.is_fifo() || kind.is_socket() || kind.is_char_device() {
                "special".to_owned()
            } else {
                format!("file {mode:o} {}", Digest::of_bytes(&fs::read(&path).unwrap()))
            };
            found.insert(text_of(path.strip_prefix(folder).unwrap().as_os_str().as_bytes()), stands);
        }
    }
    found
}
