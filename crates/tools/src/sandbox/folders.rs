//! Chooses the folders that a command can read besides the workspace and its temporary folder: the system folders, and
//! the folders in which `PATH` finds programs.
//!
//! `landlock` and `view` enforce the choice. The choice never includes a home folder or the data folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::plan::{PRIVATE_IN_VIEW, Plan};
use crate::limits;

/// System folders with programs and libraries that commands may read. `/etc` is handled separately, because it also
/// contains secrets.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/opt",
    "/nix/store",
    "/snap",
    "/gnu/store",
    "/sys/devices/system/cpu",
];
const ETC: &str = "/etc";
/// Folders that a command can never read as a whole, even if `PATH` names a folder in them. Separate rules apply to
/// each.
const APART: [&str; 4] = ["/dev", ETC, "/proc", "/sys"];

/// Names of the folders of toolchains (such as compilers) that need more files than those in their folder on `PATH`. If
/// a folder on `PATH` is in one of these folders, the whole toolchain is readable. `.cargo` is not listed, because it
/// contains credentials.
const TOOLCHAINS: [&str; 14] = [
    ".pyenv", ".rbenv", ".nodenv", ".goenv", ".jenv", ".nvm", ".fnm", ".volta", ".asdf", ".sdkman", ".bun",
    ".deno", ".rustup", ".ghcup",
];

/// Environment variables that tell a toolchain (such as a compiler) where its folder is, each with the default folder
/// relative to the home folder.
const TOOLCHAIN_VARIABLES: [(&str, &str); 7] = [
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("NODENV_ROOT", ".nodenv"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
];

/// The folders and environment variables with which a command can use the tools of this machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tooling {
    /// Value of `PATH` for a command, without the folders that the command cannot read.
    pub path: String,
    pub folders: Vec<PathBuf>,
    /// Environment variables with the folders of toolchains (such as compilers). Without these variables, a toolchain
    /// would search the home folder of the command, which is empty.
    pub variables: BTreeMap<String, String>,
}

/// Returns the folders and variables of the tools on `PATH` and in the home folder.
pub(crate) fn tooling(path: &str, home: Option<&Path>, data_dir: &Path, workspace: &Path) -> Tooling {
    let may_read = |folder: &Path| {
        !folder.starts_with(data_dir)
            && [Some(data_dir), home, Some(Path::new(PRIVATE_IN_VIEW))]
                .into_iter()
                .flatten()
                .all(|closed| !closed.starts_with(folder))
            && APART.iter().all(|apart| !folder.starts_with(apart))
    };
    let mut tooling = Tooling::default();
    let mut kept = Vec::new();
    for entry in path.split(':').filter(|entry| entry.starts_with('/')) {
        let Ok(real) = fs::canonicalize(entry) else { continue };
        if !may_read(&real) || kept.contains(&entry) {
            continue;
        }
        kept.push(entry);
        tooling.folders.extend([PathBuf::from(entry), toolchain(&real).unwrap_or(real)]);
    }
    tooling.path = kept.join(":");
    let has_cargo = tooling.folders.iter().any(|folder| folder.ends_with(".cargo/bin"));
    for (variable, folder) in TOOLCHAIN_VARIABLES {
        let Some(root) = home.and_then(|home| fs::canonicalize(home.join(folder)).ok()) else { continue };
        let wanted = tooling.folders.contains(&root) || (folder == ".rustup" && has_cargo);
        if let (true, true, Some(text)) = (wanted, may_read(&root), root.to_str()) {
            tooling.variables.insert(variable.to_owned(), text.to_owned());
            tooling.folders.push(root);
        }
    }
    tooling.folders.retain(|folder| may_read(folder) && !folder.starts_with(workspace) && !is_system(folder));
    tooling.folders.sort();
    // Removes duplicates, and folders that are inside another folder of the list.
    tooling.folders.dedup_by(|inner, outer| inner.starts_with(outer));
    tooling
}

/// Returns the folder of the toolchain (such as a compiler) to which a folder belongs.
fn toolchain(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .find(|above| above.file_name().is_some_and(|name| TOOLCHAINS.iter().any(|known| name == *known)))
        .map(Path::to_owned)
}

fn is_system(folder: &Path) -> bool {
    SYSTEM.iter().any(|system| folder.starts_with(system))
}

/// Returns the system folders that a command may read. If a system folder contains a folder that must be hidden,
/// returns the other entries of the system folder instead.
pub(super) fn system(plan: &Plan) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in SYSTEM {
        around_hidden(plan, Path::new(folder), &mut found);
    }
    found
}

fn around_hidden(plan: &Plan, path: &Path, found: &mut Vec<PathBuf>) {
    if plan.is_hidden(path) || fs::symlink_metadata(path).is_err() {
        return;
    }
    if !plan.hides_something_in(path) {
        found.push(path.to_owned());
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        around_hidden(plan, &entry.path(), found);
    }
}

/// Returns the paths in `/etc` that every user of the machine may read: whole folders if possible, otherwise single
/// files.
pub(super) fn etc(plan: &Plan) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries_left = limits::ETC_ENTRIES;
    if is_public(plan, Path::new(ETC), &mut entries_left, &mut found) {
        found.push(ETC.into());
    }
    found
}

/// Returns true if every user of the machine may read the path and everything below it. If not, adds to `found` those
/// paths below it that every user may read.
fn is_public(plan: &Plan, path: &Path, entries_left: &mut usize, found: &mut Vec<PathBuf>) -> bool {
    let Some(left) = entries_left.checked_sub(1) else { return false };
    *entries_left = left;
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let mode = metadata.permissions().mode();
    if plan.is_hidden(path) {
        false
    } else if metadata.is_symlink() {
        // A link grants nothing: whether its target is readable depends on the rules for the target.
        true
    } else if !metadata.is_dir() {
        mode & 0o004 != 0
    } else if mode & 0o005 != 0o005 {
        false
    } else {
        let Ok(entries) = fs::read_dir(path) else { return false };
        let mut public = Vec::new();
        let mut parts = Vec::new();
        let mut all = true;
        for entry in entries.flatten() {
            let entry = entry.path();
            if is_public(plan, &entry, entries_left, &mut parts) {
                public.push(entry);
            } else {
                all = false;
            }
        }
        if !all {
            found.append(&mut parts);
            found.append(&mut public);
        }
        all
    }
}

/// Returns the target of the link `/etc/resolv.conf` if this target is outside `/etc`. Commands with network access
/// need the file.
pub(super) fn resolver(plan: &Plan) -> Option<PathBuf> {
    let real = fs::canonicalize("/etc/resolv.conf").ok()?;
    (plan.network && !real.starts_with(ETC) && !plan.is_hidden(&real)).then_some(real)
}
