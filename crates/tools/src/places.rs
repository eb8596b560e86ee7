//! Resolves the paths that a call names through links, which the names do not show.
//!
//! Reads names and link targets only, and must open no file. The results are for the gates. The tools resolve a path
//! again, beneath the workspace's handle, when they use it.

use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::Glob;
use holdshort_core::tool::ResolvedPath;

use crate::limits;

/// Returns the path of a file tool if it resolves to another place.
pub(crate) fn of_path(workspace: &str, path: &str) -> Vec<ResolvedPath> {
    resolve_path(Path::new(workspace), path).into_iter().collect()
}

/// Returns the paths of a command that resolve to another place: its working directory as named, and each argument.
pub(crate) fn of_command(
    workspace: &str,
    cwd: Option<&str>,
    real_cwd: &str,
    line: &str,
) -> Vec<ResolvedPath> {
    let mut places: Vec<ResolvedPath> = cwd.into_iter().flat_map(|cwd| of_path(workspace, cwd)).collect();
    // The paths of this line cannot be known: it may name any place.
    let anywhere = || ResolvedPath { named: String::new(), resolved: None };
    let Some(paths) = holdshort_command::parse(line).paths() else {
        places.push(anywhere());
        return places;
    };
    for path in paths {
        if path.contains(['*', '?', '[']) {
            match expanded(Path::new(real_cwd), &path) {
                Some(found) => {
                    let found = found.iter().filter_map(|file| resolve_path(Path::new(real_cwd), file));
                    places.extend(found.map(|place| ResolvedPath { named: path.clone(), ..place }));
                }
                None => places.push(ResolvedPath { named: path.clone(), resolved: None }),
            }
        }
        places.extend(resolve_path(Path::new(real_cwd), &path));
    }
    places.sort();
    places.dedup();
    if places.len() > limits::PLACES {
        places.truncate(limits::PLACES);
        places.push(anywhere());
    }
    places
}

/// Returns `None` if the path resolves to the place that it names.
fn resolve_path(folder: &Path, path: &str) -> Option<ResolvedPath> {
    if path.len() > limits::PATH_BYTES || path.contains('\0') {
        return None;
    }
    let said = plain(&folder.join(path));
    let resolved = real(&folder.join(path));
    (resolved.as_deref() != Some(&said)).then(|| ResolvedPath {
        named: path.to_owned(),
        resolved: resolved.and_then(|path| path.into_os_string().into_string().ok()),
    })
}

/// Resolves the links of a path as far as it exists, and appends the missing rest by name. Returns `None` if a part can
/// not be read.
fn real(path: &Path) -> Option<PathBuf> {
    follow(path, limits::SYMLINKS)
}

fn follow(path: &Path, links: usize) -> Option<PathBuf> {
    let mut missing = Vec::new();
    let mut exists = path;
    loop {
        match fs::canonicalize(exists) {
            Ok(found) => {
                let all = missing.iter().rev().fold(found, |path, name| path.join(name));
                return Some(plain(&all));
            }
            // The target does not exist yet: a write through the link creates it there.
            Err(_) if fs::symlink_metadata(exists).is_ok_and(|found| found.is_symlink()) => {
                let target = exists.parent()?.join(fs::read_link(exists).ok()?);
                let all = missing.iter().rev().fold(target, |path, name| path.join(name));
                return if links == 0 { None } else { follow(&all, links - 1) };
            }
            Err(_) => match exists.components().next_back()? {
                Component::Normal(name) => missing.push(PathBuf::from(name)),
                Component::ParentDir => missing.push(PathBuf::from("..")),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => return None,
            },
        }
        exists = exists.parent()?;
    }
}

/// Removes `.`, and applies `..` by name.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// Returns the files that a shell pattern matches now. Returns `None` if they are too many, or if the pattern or a file
/// name cannot be understood here.
fn expanded(folder: &Path, pattern: &str) -> Option<Vec<String>> {
    if pattern.contains(['{', '\\']) || pattern.contains("[:") || pattern.contains("[^") {
        return None;
    }
    let mut found = vec![if pattern.starts_with('/') { "/".to_owned() } else { String::new() }];
    for name in pattern.split('/').filter(|name| !name.is_empty()) {
        let mut next = Vec::new();
        for before in &found {
            let join = |name: &str| match before.as_str() {
                "" => name.to_owned(),
                "/" => format!("/{name}"),
                before => format!("{before}/{name}"),
            };
            if !name.contains(['*', '?', '[']) {
                next.push(join(name));
                continue;
            }
            let is_like = Glob::new(name).ok()?.compile_matcher();
            // Some shells match `..`, which no listing holds.
            if is_like.is_match("..") && name.starts_with('.') {
                next.push(join(".."));
            }
            let Ok(entries) = fs::read_dir(folder.join(before)) else { continue };
            for (seen, entry) in entries.enumerate() {
                if seen > limits::PLACES_ENTRIES {
                    return None;
                }
                let Ok(entry) = entry else { continue };
                // The shell may match a name that is not UTF-8, and its target cannot be shown.
                let entry = entry.file_name().into_string().ok()?;
                if is_like.is_match(&entry) {
                    next.push(join(&entry));
                }
            }
        }
        if next.len() > limits::PLACES_ENTRIES {
            return None;
        }
        found = next;
    }
    Some(found)
}
