//! Resolves paths as the system would: follows each link, also of files that do not exist yet.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Maximum number of links on the way to a file, as in the system.
const LINKS: usize = 40;

/// Returns the path without links, `.` and `..`. `None`: too many links. `path` must be absolute.
pub(super) fn resolve(path: &Path) -> Option<PathBuf> {
    let mut left: Vec<OsString> = names(path);
    let mut found = PathBuf::from("/");
    let mut links = 0;
    while let Some(name) = left.pop() {
        if name == ".." {
            found.pop();
            continue;
        }
        let next = found.join(&name);
        let Ok(target) = std::fs::read_link(&next) else {
            found = next;
            continue;
        };
        links += 1;
        if links > LINKS {
            return None;
        }
        if target.is_absolute() {
            found = PathBuf::from("/");
        }
        left.extend(names(&target));
    }
    Some(found)
}

/// Returns the path without links, or the path itself if there are too many links.
pub(super) fn resolve_or_keep(path: &Path) -> PathBuf {
    resolve(path).unwrap_or_else(|| path.to_owned())
}

/// Returns the names on a path, the last name first.
fn names(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_also_to_files_that_do_not_exist() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        symlink("real", base.join("link")).unwrap();
        symlink(base.join("real/new"), base.join("dangling")).unwrap();
        symlink("loop", base.join("loop")).unwrap();
        let table = [
            ("real/file", Some("real/file")),
            ("link/file", Some("real/file")),
            ("link/../other", Some("other")),
            ("dangling", Some("real/new")),
            ("dangling/below", Some("real/new/below")),
            ("./real/./x", Some("real/x")),
            ("loop", None),
        ];
        for (path, resolved) in table {
            assert_eq!(resolve(&base.join(path)), resolved.map(|path| base.join(path)), "{path}");
        }
        assert_eq!(resolve(Path::new("/../..")), Some(PathBuf::from("/")));
    }
}
