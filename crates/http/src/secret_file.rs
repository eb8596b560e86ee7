//! Who may read a file that holds a secret: its owner alone.
//!
//! A credential of systemd (`LoadCredential=`) belongs to root. An access control list lets the service read it, and the
//! mask of that list stands where the mode of other files has the rights of their group. Nobody else may enter its folder,
//! which `CREDENTIALS_DIRECTORY` names.

use std::ffi::OsStr;
use std::path::Path;

/// Whether a file of this mode lets others read it.
pub fn exposes(path: &Path, mode: u32) -> bool {
    exposes_in(path, mode, std::env::var_os("CREDENTIALS_DIRECTORY").as_deref())
}

/// The same, for a folder of credentials, if there is one.
pub fn exposes_in(path: &Path, mode: u32, credentials: Option<&OsStr>) -> bool {
    let is_credential =
        credentials.is_some_and(|folder| !folder.is_empty() && path.parent() == Some(Path::new(folder)));
    let forbidden = if is_credential { 0o037 } else { 0o077 };
    mode & forbidden != 0
}
