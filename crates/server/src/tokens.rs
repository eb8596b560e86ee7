//! The two tokens of a local start, in `tokens.json` of the data folder: made once, readable by its owner
//! alone. Never logs or shows one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use holdshort_core::actor::Role;
use holdshort_core::digest::Digest;
use serde::{Deserialize, Serialize};

const FILE: &str = "tokens.json";
const NEW_FILE: &str = "tokens.json.new";
/// More is no token file.
const FILE_BYTES: u64 = 4_096;
/// Shorter ones could be guessed.
const TOKEN_BYTES: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{} is readable by others (mode {mode:03o}): run `chmod 600 {}`, and delete it if others may have \
             read it; new tokens are made at the next start", path.display(), path.display())]
    Exposed { path: PathBuf, mode: u32 },
    #[error("{} does not hold the two tokens; delete it to have new ones made", path.display())]
    Malformed { path: PathBuf },
    #[error("{} can not be read or written: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("the operating system gives no random bytes: {0}")]
    NoRandomness(getrandom::Error),
}

/// As they stand in the file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    operator: String,
    agent: String,
}

pub(crate) struct Tokens {
    pub(crate) operator: String,
    pub(crate) agent: String,
    operator_digest: Digest,
    agent_digest: Digest,
}

impl Tokens {
    /// Reads the file, or makes it. Whoever calls holds the data folder's lock.
    pub(crate) fn open(data: &Path) -> Result<Self, Error> {
        let path = data.join(FILE);
        let stored = match read(&path)? {
            Some(stored) => stored,
            None => make(data, &path)?,
        };
        Ok(Self {
            operator_digest: Digest::of(stored.operator.as_bytes()),
            agent_digest: Digest::of(stored.agent.as_bytes()),
            operator: stored.operator,
            agent: stored.agent,
        })
    }

    /// Whose token it is. Compares digests, so the time it takes tells nothing about a token.
    pub(crate) fn role_of(&self, token: &str) -> Option<Role> {
        let digest = Digest::of(token.as_bytes());
        if digest == self.operator_digest {
            Some(Role::Operator)
        } else if digest == self.agent_digest {
            Some(Role::Agent)
        } else {
            None
        }
    }
}

fn read(path: &Path) -> Result<Option<Stored>, Error> {
    let io = |source| Error::Io { path: path.to_owned(), source };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io(error)),
    };
    let mode = file.metadata().map_err(io)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(Error::Exposed { path: path.to_owned(), mode });
    }
    let malformed = || Error::Malformed { path: path.to_owned() };
    let mut text = String::new();
    file.take(FILE_BYTES).read_to_string(&mut text).map_err(|_| malformed())?;
    let stored: Stored = serde_json::from_str(&text).map_err(|_| malformed())?;
    let long_enough = |token: &str| token.len() >= TOKEN_BYTES;
    if !long_enough(&stored.operator) || !long_enough(&stored.agent) || stored.operator == stored.agent {
        return Err(malformed());
    }
    Ok(Some(stored))
}

fn make(data: &Path, path: &Path) -> Result<Stored, Error> {
    let stored = Stored { operator: draw("hs_op_")?, agent: draw("hs_ag_")? };
    let new = data.join(NEW_FILE);
    write(&new, path, &stored).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    Ok(stored)
}

/// A crash leaves either no token file or a whole one.
fn write(new: &Path, path: &Path, stored: &Stored) -> io::Result<()> {
    match fs::remove_file(new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(new)?;
    file.write_all(&serde_json::to_vec_pretty(stored)?)?;
    file.sync_all()?;
    fs::rename(new, path)
}

fn draw(prefix: &str) -> Result<String, Error> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(Error::NoRandomness)?;
    Ok(format!("{prefix}{}", Digest::from_bytes(bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_made_once_and_kept_from_others() {
        let data = tempfile::tempdir().unwrap();
        let first = Tokens::open(data.path()).unwrap();
        let second = Tokens::open(data.path()).unwrap();
        assert_eq!((&first.operator, &first.agent), (&second.operator, &second.agent));
        assert_eq!((first.operator.len(), &first.operator[..6], &first.agent[..6]), (70, "hs_op_", "hs_ag_"));
        let roles = [&*first.operator, &*first.agent, "hs_op_", ""].map(|token| second.role_of(token));
        assert_eq!(roles, [Some(Role::Operator), Some(Role::Agent), None, None]);

        let path = data.path().join(FILE);
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Tokens::open(data.path()), Err(Error::Exposed { mode: 0o640, .. })));
    }

    #[test]
    fn a_file_that_holds_something_else_is_never_replaced() {
        for text in ["", "{}", r#"{"operator":"short","agent":"hs_ag_00000000000000000000000000000000"}"#] {
            let data = tempfile::tempdir().unwrap();
            let path = data.path().join(FILE);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            assert!(matches!(Tokens::open(data.path()), Err(Error::Malformed { .. })), "{text}");
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
