//! Reads files that contain a secret. Rejects a file that exceeds a limit, and a file that users other than its owner
//! can read.
//!
//! A systemd credential (`LoadCredential=`) belongs to root, and an access control list permits the service to read it.
//! The mask of this list appears in the file's mode as a permission of the group. This permission is accepted, because
//! other users cannot open the folder of the credentials, `CREDENTIALS_DIRECTORY`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Reason why a secret file was not read. The message continues a text that begins with the file's name.
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

/// Returns the bytes of a secret file. Rejects a file that other users can read, or with more than `most` bytes.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let file = File::open(path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    if exposes(path, mode) { Err(Error::Exposed { mode }) } else { bounded(file, most) }
}

/// Returns the text of a secret file without the white space at its beginning and end.
pub fn read_text(path: &Path, most: u64) -> Result<String, Error> {
    let text = String::from_utf8(read(path, most)?).map_err(|_| Error::NoText)?;
    let text = text.trim();
    if text.is_empty() { Err(Error::Empty) } else { Ok(text.to_owned()) }
}

/// Returns the bytes of a file. Rejects a file with more than `most` bytes. Does not check the permissions of the file.
pub fn bounded(file: File, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(Error::Length(most)) } else { Ok(bytes) }
}

/// Returns true if a secret file at this path and with this mode can be read by other users.
fn exposes(path: &Path, mode: u32) -> bool {
    exposes_in(path, mode, std::env::var_os("CREDENTIALS_DIRECTORY").as_deref())
}

/// Returns true if a secret file can be read by other users. `credentials` is the folder of the systemd credentials, in
/// which the group may read.
pub fn exposes_in(path: &Path, mode: u32, credentials: Option<&OsStr>) -> bool {
    let is_credential =
        credentials.is_some_and(|folder| !folder.is_empty() && path.parent() == Some(Path::new(folder)));
    let forbidden = if is_credential { 0o037 } else { 0o077 };
    mode & forbidden != 0
}
