//! Reads files that hold a secret, up to a limit, and only if no other user may read them.
//!
//! A systemd credential (`LoadCredential=`) belongs to root. An access control list lets the service read it. The mask
//! of that list appears where the mode of other files shows the rights of their group. The folder of the credentials,
//! `CREDENTIALS_DIRECTORY`, is closed to other users.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Error that explains why a file is not read. The message follows the file's name.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("cannot be read: {0}")]
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

/// Returns the bytes of a file that only its owner may read.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if exposes(path, mode) { Err(Error::Exposed { mode }) } else { bounded(file, most) }
}

/// Returns the text of a secret file without the surrounding white space.
pub fn read_text(path: &Path, most: u64) -> Result<String, Error> {
    let text = String::from_utf8(read(path, most)?).map_err(|_| Error::NoText)?;
    let text = text.trim();
    if text.is_empty() { Err(Error::Empty) } else { Ok(text.to_owned()) }
}

/// Returns the bytes of a file that holds no secret.
pub fn bounded(file: File, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(Error::Length(most)) } else { Ok(bytes) }
}

/// Returns true if a file of this mode lets other users read it.
fn exposes(path: &Path, mode: u32) -> bool {
    exposes_in(path, mode, std::env::var_os("CREDENTIALS_DIRECTORY").as_deref())
}

/// Like `exposes`, with the folder of the credentials as an argument.
pub fn exposes_in(path: &Path, mode: u32, credentials: Option<&OsStr>) -> bool {
    let is_credential =
        credentials.is_some_and(|folder| !folder.is_empty() && path.parent() == Some(Path::new(folder)));
    let forbidden = if is_credential { 0o037 } else { 0o077 };
    mode & forbidden != 0
}
