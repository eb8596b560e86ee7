//! Resolves the symbolic links in the paths of a call.
//!
//! This module reads only names and link targets. Files are never opened. The resolved paths are used to decide whether
//! a call needs an approval. When the tool runs, it resolves the path again, from the handle of the workspace.

use std::fs;
use std::path::{Component, Path, PathBuf};

use globset::Glob;
use holdshort_core::tool::ResolvedPath;

use crate::limits;

/// Returns the path to which the path in a file tool's call leads, if the two differ because of links.
pub(crate) fn of_path(workspace: &str, path: &str) -> Vec<ResolvedPath> {
    resolve_path(Path::new(workspace), path).into_iter().collect()
}

/// Returns the paths to which the paths in a command lead, as far as they differ because of links. The working
/// directory is examined as the call names it, and so are the arguments.
pub(crate) fn of_command(
    workspace: &str,
    cwd: Option<&str>,
    real_cwd: &str,
    line: &str,
) -> Vec<ResolvedPath> {
    let mut places: Vec<ResolvedPath> = cwd.into_iter().flat_map(|cwd| of_path(workspace, cwd)).collect();
    // The paths of this command line cannot be determined, so it may reach any path.
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

/// Resolves a path in a call. Returns `None` if the resolved path is the same as the named path.
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

/// Resolves the links in the existing part of a path, and appends the missing rest of the path unchanged. Returns
/// `None` if a component is unreadable.
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
            // The target of the link does not exist yet. A write through the link would create the target.
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

/// Removes `.` from a path and resolves `..` from the names alone, without reading links.
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

/// Returns the files that a shell pattern matches now. Returns `None` if there are too many files, or if the pattern or
/// a file name cannot be interpreted by this function.
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
            // Some shells match `..` too, which no directory listing contains.
            if is_like.is_match("..") && name.starts_with('.') {
                next.push(join(".."));
            }
            let Ok(entries) = fs::read_dir(folder.join(before)) else { continue };
            for (seen, entry) in entries.enumerate() {
                if seen > limits::PLACES_ENTRIES {
                    return None;
                }
                let Ok(entry) = entry else { continue };
                // A name that is not UTF-8 cannot be shown, but the shell may match it. The paths that the pattern
                // matches are therefore unknown.
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
