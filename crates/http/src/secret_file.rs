//! Reads files that hold a secret: within a limit, and only where their owner alone may read them.
//!
//! A credential of systemd (`LoadCredential=`) belongs to root. An access control list lets the service read it, and the
//! mask of that list stands where the mode of other files has the rights of their group. Nobody else may enter its folder,
//! which `CREDENTIALS_DIRECTORY` names.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Why a file is not read. To be told behind its name.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("can not be read: {0}")]
    Io(#[from] io::Error),
    #[error("is readable by others (mode {mode:03o}): run `chmod 600`")]
    Exposed { mode: u32 },
    #[error("has more than {0} bytes")]
    Length(u64),
    #[error("holds no text")]
    NoText,
    #[error("is empty")]
    Empty,
}

/// The bytes of a file that its owner alone may read.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if exposes(path, mode) { Err(Error::Exposed { mode }) } else { bounded(file, most) }
}

/// Its text, without the white space around it.
pub fn read_text(path: &Path, most: u64) -> Result<String, Error> {
    let text = String::from_utf8(read(path, most)?).map_err(|_| Error::NoText)?;
    let text = text.trim();
    if text.is_empty() { Err(Error::Empty) } else { Ok(text.to_owned()) }
}

/// The bytes of a file that holds no secret.
pub fn bounded(file: File, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(Error::Length(most)) } else { Ok(bytes) }
}

/// Whether a file of this mode lets others read it.
fn exposes(path: &Path, mode: u32) -> bool {
    exposes_in(path, mode, std::env::var_os("CREDENTIALS_DIRECTORY").as_deref())
}

/// The same, for a folder of credentials, if there is one.
pub fn exposes_in(path: &Path, mode: u32, credentials: Option<&OsStr>) -> bool {
    let is_credential =
        credentials.is_some_and(|folder| !folder.is_empty() && path.parent() == Some(Path::new(folder)));
    let forbidden = if is_credential { 0o037 } else { 0o077 };
    mode & forbidden != 0
}
