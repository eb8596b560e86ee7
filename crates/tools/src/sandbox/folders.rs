//! Chooses the folders that a command reads besides its own: the system's, and those where `PATH` finds programs.
//!
//! `landlock` and `view` enforce the choice. It must never include a home folder or the data folder, wherever they lie.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::plan::{PRIVATE_IN_VIEW, Plan};
use crate::limits;

/// Programs and libraries. `/etc` is separate because it holds secrets too.
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
/// Folders that are never read as a whole, even if `PATH` names a folder in them: each has its own rules.
const APART: [&str; 4] = ["/dev", ETC, "/proc", "/sys"];

/// Toolchains that keep programs outside the folder on `PATH`. If that folder lies in one of these, all of the
/// toolchain is read. `.cargo` is left out because it holds credentials.
const TOOLCHAINS: [&str; 14] = [
    ".pyenv", ".rbenv", ".nodenv", ".goenv", ".jenv", ".nvm", ".fnm", ".volta", ".asdf", ".sdkman", ".bun",
    ".deno", ".rustup", ".ghcup",
];

/// Variables that tell a toolchain its folder, and its default folder in the home folder.
const TOOLCHAIN_VARIABLES: [(&str, &str); 7] = [
    ("RUSTUP_HOME", ".rustup"),
    ("PYENV_ROOT", ".pyenv"),
    ("RBENV_ROOT", ".rbenv"),
    ("NODENV_ROOT", ".nodenv"),
    ("NVM_DIR", ".nvm"),
    ("VOLTA_HOME", ".volta"),
    ("ASDF_DATA_DIR", ".asdf"),
];

/// Tools that a command finds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tooling {
    /// `PATH` without the folders that a command does not read.
    pub path: String,
    pub folders: Vec<PathBuf>,
    /// Folders of toolchains. Without these variables a toolchain looks in the command's empty home folder.
    pub variables: BTreeMap<String, String>,
}

/// Returns the tools that `PATH` and the home folder offer.
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
    // Removes duplicates and folders that lie in another.
    tooling.folders.dedup_by(|inner, outer| inner.starts_with(outer));
    tooling
}

/// Returns the toolchain that a folder belongs to.
fn toolchain(folder: &Path) -> Option<PathBuf> {
    folder
        .ancestors()
        .find(|above| above.file_name().is_some_and(|name| TOOLCHAINS.iter().any(|known| name == *known)))
        .map(Path::to_owned)
}

fn is_system(folder: &Path) -> bool {
    SYSTEM.iter().any(|system| folder.starts_with(system))
}

/// Returns the system's folders. If a hidden folder lies in one, returns the entries around the hidden folder.
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

/// Returns the parts of `/etc` that every user may read: whole folders if possible, else single files.
pub(super) fn etc(plan: &Plan) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut entries_left = limits::ETC_ENTRIES;
    if is_public(plan, Path::new(ETC), &mut entries_left, &mut found) {
        found.push(ETC.into());
    }
    found
}

/// Returns true if everything at and below the path is public. Otherwise adds its public parts to `found`.
fn is_public(plan: &Plan, path: &Path, entries_left: &mut usize, found: &mut Vec<PathBuf>) -> bool {
    let Some(left) = entries_left.checked_sub(1) else { return false };
    *entries_left = left;
    let Ok(metadata) = fs::symlink_metadata(path) else { return false };
    let mode = metadata.permissions().mode();
    if plan.is_hidden(path) {
        false
    } else if metadata.is_symlink() {
        // The rules at its target decide.
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

/// Returns the target of `/etc/resolv.conf` if it lies outside `/etc`, for commands that use the network.
pub(super) fn resolver(plan: &Plan) -> Option<PathBuf> {
    let real = fs::canonicalize("/etc/resolv.conf").ok()?;
    (plan.network && !real.starts_with(ETC) && !plan.is_hidden(&real)).then_some(real)
}
