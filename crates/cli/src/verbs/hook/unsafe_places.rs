//! Checks of the places that a hook depends on: the program, the settings and the folder of the hooks.
//!
//! A place is refused if the agent's project contains it, or if other users can change or replace it: the hook could
//! then be removed without a decision.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;

use super::resolved_path::resolve_or_keep;

/// Permission of other users to change something.
const OTHERS_WRITE: u32 = 0o022;
/// Folder in which users can only remove their own files, such as `/tmp`.
const STICKY: u32 = 0o1000;

/// Returns the reason why an agent that works in `root` could change this place. `None` if it could not.
pub(crate) fn in_project(path: &Path, root: &Path) -> Option<String> {
    let (path, root) = (resolve_or_keep(path), resolve_or_keep(root));
    path.starts_with(&root).then(|| {
        format!(
            "{} is in the project {}, so the agent could change it: choose a smaller project, or use --user",
            path.display(),
            root.display()
        )
    })
}

/// Returns the reason why other users could change or replace this place. `None` if they could not.
pub(crate) fn open_to_others(path: &Path) -> Option<String> {
    let path = resolve_or_keep(path);
    let user = geteuid().as_raw();
    path.ancestors().find_map(|each| {
        // Missing components are created later, and belong to the user.
        let found = fs::symlink_metadata(each).ok()?;
        let shown = each.display();
        if found.uid() != user && found.uid() != 0 {
            return Some(format!(
                "{shown} belongs to the user with id {}, who could replace it",
                found.uid()
            ));
        }
        let mode = found.mode() & 0o7777;
        let is_sticky = found.is_dir() && mode & STICKY != 0;
        (mode & OTHERS_WRITE != 0 && !is_sticky).then(|| {
            format!("{shown} can be changed by other users (mode {mode:03o}): run `chmod go-w {shown}`")
        })
    })
}

/// Returns the reason why a path cannot be part of a command line that a coding agent reads. `None` if it can.
pub(crate) fn unreadable_in_settings(path: &Path) -> Option<String> {
    let is_odd = |c: char| c.is_control() || "\\\"'`$".contains(c);
    match path.to_str() {
        Some(text) if !text.contains(is_odd) => None,
        _ => Some(format!(
            "{} contains a character that programs read differently, such as `$` or a quote: use another path",
            path.display()
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_place_is_refused_if_the_project_contains_it_also_over_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("project/inside")).unwrap();
        fs::create_dir_all(at("project-2")).unwrap();
        symlink(at("project/inside"), at("link")).unwrap();
        let table = [
            ("project/settings.json", true),
            ("project/missing/settings.json", true),
            ("link/settings.json", true),
            ("project-2/settings.json", false),
            ("settings.json", false),
        ];
        for (place, is_refused) in table {
            assert_eq!(in_project(&at(place), &at("project")).is_some(), is_refused, "{place}");
        }
    }

    #[test]
    fn a_place_is_refused_if_others_can_change_it_or_a_folder_on_its_path() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        let file = inner.join("file");
        fs::write(&file, "").unwrap();
        let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        for path in [&file, &inner, &folder.path().join("a")] {
            set(path, 0o755);
        }
        assert_eq!(open_to_others(&file), None);
        let table = [
            (file.clone(), 0o664, "mode 664"),
            (file.clone(), 0o646, "mode 646"),
            (inner.clone(), 0o775, "mode 775"),
            (folder.path().join("a"), 0o777, "mode 777"),
        ];
        for (path, mode, said) in table {
            set(&path, mode);
            let problem = open_to_others(&file).unwrap();
            assert!(problem.contains(said) && problem.contains("chmod go-w"), "{problem}");
            set(&path, 0o755);
        }
        // In such a folder, other users cannot remove the file.
        set(&inner, 0o1777);
        assert_eq!(open_to_others(&file), None);
    }

    #[test]
    fn a_path_with_a_character_that_programs_read_differently_is_refused() {
        for path in ["/a/b", "/a b/c", "/ü/(x)&y;z", "/a-1_2.3"] {
            assert_eq!(unreadable_in_settings(Path::new(path)), None, "{path}");
        }
        for path in ["/a$b", "/a\"b", "/a'b", "/a`b", "/a\\b", "/a\nb", "/a\u{7f}b"] {
            assert!(unreadable_in_settings(Path::new(path)).is_some(), "{path:?}");
        }
    }
}
