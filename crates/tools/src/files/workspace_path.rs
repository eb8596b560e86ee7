//! Resolves a path that an agent wrote to a path in the workspace. The path that the agent wrote is checked, and its
//! links are resolved. Opens nothing.

use std::collections::VecDeque;
use std::io;
use std::path::{Component, Path};

use cap_fs_ext::DirExt;
use cap_std::fs::Dir;

use crate::limits;
use crate::refusal::Refusal;
use crate::workspace::Workspace;

/// Treatment of a symbolic link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Last {
    /// A symbolic link at the end of the path is followed, as when a file is read. The target must be in the workspace.
    Follow,
    /// A path that ends in a symbolic link is rejected. A write could replace either the link or its target, and the
    /// person who approves the write could not know which.
    Refuse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Absent,
    File,
    Folder,
    Other,
}

/// A resolved path in the workspace. When the path was resolved, none of its components was a link. When the path is
/// opened, no link is followed: if a component has become a link in the meantime, opening fails.
#[derive(Clone, Debug)]
pub(crate) struct WorkspacePath {
    components: Vec<String>,
    pub kind: Kind,
}

impl WorkspacePath {
    /// Resolves a path relative to the workspace, without leaving the workspace.
    pub(crate) fn resolve(workspace: &Workspace, path: &str, last: Last) -> Result<Self, Refusal> {
        let mut ahead: VecDeque<String> = components(path)?.into();
        let mut place = Self { components: Vec::new(), kind: Kind::Folder };
        let mut links = 0;
        while let Some(component) = ahead.pop_front() {
            if component == ".." {
                // Only the target of a link can contain `..`. The folders before `..` must exist.
                if place.kind != Kind::Folder || place.components.pop().is_none() {
                    return Err(outside(path));
                }
                continue;
            }
            if place.kind == Kind::File || place.kind == Kind::Other {
                return Err(Refusal::new(
                    "not_a_directory",
                    format!("`{place}` is a file, so it cannot contain `{}`", escape_path(path)),
                ));
            }
            if component.eq_ignore_ascii_case(".git") {
                return Err(protected(path));
            }
            place.components.push(component);
            if place.kind == Kind::Absent {
                continue;
            }
            let metadata = match workspace.dir().symlink_metadata(place.to_string()) {
                Ok(metadata) => metadata,
                Err(e) if e.kind() == io::ErrorKind::NotFound => {
                    place.kind = Kind::Absent;
                    continue;
                }
                Err(e) => return Err(unreadable(path, &e)),
            };
            if metadata.is_symlink() {
                if ahead.is_empty() && last == Last::Refuse {
                    return Err(Refusal::new(
                        "symlink",
                        format!(
                            "`{}` is a symbolic link; name the file that it points to",
                            escape_path(path)
                        ),
                    ));
                }
                links += 1;
                if links > limits::SYMLINKS {
                    return Err(Refusal::new(
                        "symlink",
                        format!("`{}` contains a loop of symbolic links", escape_path(path)),
                    ));
                }
                let target = workspace
                    .dir()
                    .read_link_contents(place.to_string())
                    .map_err(|e| unreadable(path, &e))?;
                place.components.pop();
                for component in link_components(&target).ok_or_else(|| outside(path))?.into_iter().rev() {
                    ahead.push_front(component);
                }
                continue;
            }
            place.kind = if metadata.is_dir() {
                Kind::Folder
            } else if metadata.is_file() {
                Kind::File
            } else {
                Kind::Other
            };
        }
        Ok(place)
    }

    /// Returns the components of the path's parent folder, and the last name of the path. Returns `None` for the
    /// workspace itself.
    pub(crate) fn split(&self) -> Option<(&[String], &str)> {
        self.components.split_last().map(|(name, folders)| (folders, name.as_str()))
    }

    /// Opens a folder of the workspace, component by component, without following a link.
    pub(crate) fn open_folder(workspace: &Workspace, components: &[String]) -> io::Result<Dir> {
        let mut dir = workspace.dir().try_clone()?;
        for component in components {
            dir = dir.open_dir_nofollow(component)?;
        }
        Ok(dir)
    }

    pub(crate) fn components(&self) -> &[String] {
        &self.components
    }
}

/// Writes the path relative to the workspace, with `/` as the separator. Writes `.` for the workspace itself.
impl std::fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.components.is_empty() { f.write_str(".") } else { f.write_str(&self.components.join("/")) }
    }
}

/// Splits a path that an agent wrote into its components. Rejects an absolute path and `..`, even if the path would
/// lead into the workspace.
fn components(path: &str) -> Result<Vec<String>, Refusal> {
    if path.is_empty() {
        return Err(Refusal::new(
            "bad_path",
            "the path is empty; name a file or directory relative to the workspace, such as `src/main.rs`",
        ));
    }
    if path.len() > limits::PATH_BYTES {
        return Err(Refusal::new(
            "bad_path",
            format!("the path is longer than {} bytes; shorten it", limits::PATH_BYTES),
        ));
    }
    if path.contains('\0') {
        return Err(Refusal::new("bad_path", "the path contains a NUL character; remove it"));
    }
    Path::new(path)
        .components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| match component {
            Component::Normal(name) if name.len() > limits::NAME_BYTES => Err(Refusal::new(
                "bad_path",
                format!("a name in the path is longer than {} bytes; shorten it", limits::NAME_BYTES),
            )),
            Component::Normal(name) => Ok(name.to_string_lossy().into_owned()),
            _ => Err(outside(path)),
        })
        .collect()
}

/// Rejects a path that is written as a folder (for example with a final `/`), even if a file exists there.
pub(crate) fn names_a_file(path: &str) -> Result<(), Refusal> {
    match path.rsplit('/').next() {
        Some("" | ".") if !path.is_empty() => {
            Err(Refusal::new("bad_path", format!("`{}` names a directory; name a file", escape_path(path))))
        }
        Some(_) | None => Ok(()),
    }
}

/// Splits the target of a link into its components. Returns `None` for an absolute target, or for a target that is not
/// UTF-8.
fn link_components(target: &Path) -> Option<Vec<String>> {
    target
        .components()
        .filter(|component| !matches!(component, Component::CurDir))
        .map(|component| match component {
            Component::Normal(name) => name.to_str().map(ToOwned::to_owned),
            Component::ParentDir => Some("..".to_owned()),
            _ => None,
        })
        .collect()
}

fn outside(path: &str) -> Refusal {
    Refusal::new(
        "outside_workspace",
        format!(
            "`{}` may lead outside the workspace; use a relative path without `..` and without symbolic \
            links to the outside",
            escape_path(path)
        ),
    )
}

fn protected(path: &str) -> Refusal {
    Refusal::new(
        "protected_path",
        format!(
            "`{}` is inside `.git`, which file tools do not change; use run_command to run git",
            escape_path(path)
        ),
    )
}

pub(crate) fn unreadable(path: &str, error: &io::Error) -> Refusal {
    // These errors mean that a link or a file has replaced a folder of the path since the path was resolved.
    let swapped = matches!(error.raw_os_error(), Some(nix::libc::ELOOP | nix::libc::ENOTDIR));
    match error.kind() {
        io::ErrorKind::NotFound => not_found(path),
        _ if swapped => outside(path),
        _ => Refusal::new("not_readable", format!("`{}` cannot be read: {error}", escape_path(path))),
    }
}

pub(crate) fn not_found(path: &str) -> Refusal {
    Refusal::new(
        "not_found",
        format!(
            "`{}` was not found in the workspace; use list_directory to see existing files",
            escape_path(path)
        ),
    )
}

/// Returns a path in the form for messages: on one line, with control characters escaped.
pub(crate) fn escape_path(path: &str) -> std::str::EscapeDebug<'_> {
    path.escape_debug()
}
