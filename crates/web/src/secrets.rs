//! Secrets that are drawn from the operating system's random numbers, and stored in files of the data folder that only
//! their owner may read.
//!
//! A file that has invalid content or that other users can read is rejected and never replaced. The content of a file
//! with secrets must never be logged or shown.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use holdshort_core::digest::Digest;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Maximum number of bytes that are read from a file with secrets. The server never writes a larger file.
const FILE_BYTES: u64 = 1_024 * 1_024;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} is readable by others (mode {mode:03o}): run `chmod 600 {}`. {mend}", path.display(), path.display())]
    Exposed { path: PathBuf, mode: u32, mend: &'static str },
    #[error("{} has invalid content. {mend}", path.display())]
    Malformed { path: PathBuf, mend: &'static str },
    #[error(
        "the tokens that the nodes share in the database are invalid: stop all nodes and run `DELETE FROM \
         agreed WHERE name = '{name}'` in the database; the first node that starts stores its own tokens"
    )]
    Disagreed { name: &'static str },
    #[error("{} cannot be read or written: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the operating system provides no random bytes: {0}")]
    NoRandomness(getrandom::Error),
}

/// Returns 256 random bits as 64 hexadecimal characters.
pub fn draw() -> Result<String, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(Error::NoRandomness)?;
    Ok(Digest::from_bytes(bytes).to_string())
}

/// Reads a file with secrets. Returns `None` if the file is missing. `mend` is the advice in the error about an
/// unusable file, and says what changes if the operator follows the advice.
pub fn read<T: DeserializeOwned>(path: &Path, mend: &'static str) -> Result<Option<T>, Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mode = file.metadata().map_err(io)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Error::Exposed { path: path.to_owned(), mode, mend });
    }
    let malformed = || Error::Malformed { path: path.to_owned(), mend };
    let mut text = String::new();
    file.take(FILE_BYTES).read_to_string(&mut text).map_err(|_| malformed())?;
    serde_json::from_str(&text).map(Some).map_err(|_| malformed())
}

/// Writes a file with secrets atomically: after a crash, the file has either the old or the new content.
pub fn write<T: Serialize>(path: &Path, value: &T) -> Result<(), Error> {
    replace(path, value).map_err(|source| Error::Io { path: path.to_owned(), source })
}

fn replace<T: Serialize>(path: &Path, value: &T) -> io::Result<()> {
    let new = path.with_extension("json.new");
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
    file.write_all(&serde_json::to_vec_pretty(value)?)?;
    file.sync_all()?;
    fs::rename(new, path)?;
    path.parent().map_or(Ok(()), sync)
}

/// Syncs a directory, so that files that were created or renamed in it survive a power failure.
pub fn sync(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_file_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        let read = |path: &Path| read::<Value>(path, "Mend it");
        assert_eq!(read(&path).unwrap(), None);
        for value in [json!({"a": 1}), json!([2])] {
            write(&path, &value).unwrap();
            assert_eq!(read(&path).unwrap(), Some(value));
        }
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let exposed = read(&path).unwrap_err();
        assert!(matches!(exposed, Error::Exposed { mode: 0o640, .. }));
        assert!(exposed.to_string().ends_with("a.json`. Mend it"), "{exposed}");
    }

    #[test]
    fn no_two_secrets_are_alike() {
        let (one, other) = (draw().unwrap(), draw().unwrap());
        assert_ne!(one, other);
        assert_eq!((one.len(), other.len()), (64, 64));
    }
}
