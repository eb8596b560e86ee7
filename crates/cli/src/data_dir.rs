//! Data folder as clients read it: the journal, the address of the server, and the operator's token.
//!
//! A server writes `server.json` when it starts, and removes this file when it stops. A client uses this file only if
//! the process that it names is running and has locked the folder. Otherwise the client could send the token to another
//! program.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{Access, access};
use rustix::process::{Pid, test_kill_process};
use serde::{Deserialize, Serialize};

use crate::exit::{no_server, usage};
use crate::program_name::holdshort;
use crate::shell::quoted;

const ADDRESS: &str = "server.json";
const TOKENS: &str = "tokens.json";
const DATABASE: &str = "holdshort.db";
/// File next to the journal that records the journal's last position.
const HEAD_FILE: &str = "holdshort.head";
/// Lock file in the data folder, held by the server process that uses this folder. The kernel releases the lock when
/// the process ends.
const LOCK: &str = "holdshort.lock";

#[derive(Clone, Debug)]
pub(crate) struct DataDir {
    pub path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Address {
    listening: String,
    pid: i32,
}

#[derive(Deserialize)]
struct Tokens {
    operator: String,
    agent: String,
}

impl DataDir {
    /// Returns the data folder at the path `given`, or the person's default data folder.
    pub(crate) fn resolve(given: Option<&Path>) -> anyhow::Result<Self> {
        if let Some(path) = given {
            return Ok(Self { path: std::path::absolute(path)? });
        }
        let set = |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
        let base = base.ok_or_else(|| usage("HOME is not set: name the data folder with --data DIR"))?;
        Ok(Self { path: base.join("holdshort") })
    }

    /// Returns the reason why this data folder cannot store a journal, or `None` if it can.
    pub(crate) fn trouble(&self) -> Option<String> {
        // A missing folder is created in its nearest existing parent.
        for path in self.path.ancestors() {
            let shown = path.display();
            return match fs::metadata(path) {
                Ok(found) if !found.is_dir() => Some(format!("{shown} is not a directory")),
                Ok(_) => {
                    let refused = access(path, Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK).err();
                    refused.map(|_| format!("{shown} cannot be written"))
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                // A component of the path is not a directory. A later iteration reports this component.
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => continue,
                Err(error) => Some(format!("{shown}: {error}")),
            };
        }
        None
    }

    pub(crate) fn holds_journal(&self) -> bool {
        self.path.join(DATABASE).exists()
    }

    /// Returns an explanation if the data folder once contained a journal that is missing now.
    pub(crate) fn lost_journal(&self) -> Option<String> {
        let is_lost = !self.holds_journal() && self.path.join(HEAD_FILE).exists();
        is_lost.then(|| {
            format!(
                "{} contains {HEAD_FILE}, so the folder had a journal, but {DATABASE} is missing",
                self.path.display()
            )
        })
    }

    /// Returns the address of the running server that uses this data folder. Returns `None` if no server runs.
    pub(crate) fn listening(&self) -> Option<String> {
        let text = fs::read_to_string(self.path.join(ADDRESS)).ok()?;
        let address: Address = serde_json::from_str(&text).ok()?;
        let lives = Pid::from_raw(address.pid).is_some_and(|pid| test_kill_process(pid).is_ok());
        // After a server was killed, a different process may have the same process id.
        (lives && self.is_locked()).then_some(address.listening)
    }

    fn is_locked(&self) -> bool {
        // The client takes a shared lock, so that one client does not mistake another client for a server.
        let tried = File::open(self.path.join(LOCK)).map(|file| file.try_lock_shared());
        matches!(tried, Ok(Err(TryLockError::WouldBlock)))
    }

    /// Returns the command-line arguments with which another command selects this data folder. The result is empty for
    /// the default data folder.
    pub(crate) fn arguments(&self) -> String {
        let is_own = Self::resolve(None).is_ok_and(|own| own.path == self.path);
        if is_own { String::new() } else { format!(" --data {}", self.quoted()) }
    }

    pub(crate) fn quoted(&self) -> String {
        quoted(&self.path.display().to_string())
    }

    /// Returns the error for a command that needs a server, because no server uses this data folder.
    pub(crate) fn unserved(&self) -> anyhow::Error {
        no_server(format!(
            "no server uses {}; start a server with `{} serve --data {}`",
            self.path.display(),
            holdshort(),
            self.quoted()
        ))
    }

    pub(crate) fn announce(&self, address: SocketAddr) -> anyhow::Result<Announced> {
        let path = self.path.join(ADDRESS);
        let pid = rustix::process::getpid().as_raw_nonzero().get();
        let text = serde_json::to_vec(&Address { listening: format!("http://{address}"), pid })?;
        // Readers see the old file or the new file, never a partial file.
        let mut file = tempfile::NamedTempFile::new_in(&self.path)?;
        file.write_all(&text)?;
        file.persist(&path).with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(Announced { path, text })
    }

    /// Returns the operator's token from `tokens.json` in the data folder. Returns `None` if no server has created this
    /// file.
    pub(crate) fn token(&self) -> anyhow::Result<Option<String>> {
        Ok(self.tokens()?.map(|tokens| tokens.operator))
    }

    /// Returns the agent token, with which a program can ask people but cannot decide.
    pub(crate) fn agent_token(&self) -> anyhow::Result<Option<String>> {
        Ok(self.tokens()?.map(|tokens| tokens.agent))
    }

    fn tokens(&self) -> anyhow::Result<Option<Tokens>> {
        let path = self.path.join(TOKENS);
        match fs::read_to_string(&path) {
            Ok(text) => {
                let tokens: Tokens = serde_json::from_str(&text)
                    .with_context(|| format!("{} does not contain valid tokens", path.display()))?;
                Ok(Some(tokens))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
        }
    }
}

/// File with the address of the running server. The file is removed on drop, unless another server has replaced it.
#[derive(Debug)]
pub(crate) struct Announced {
    path: PathBuf,
    text: Vec<u8>,
}

impl Drop for Announced {
    fn drop(&mut self) {
        if fs::read(&self.path).is_ok_and(|text| text == self.text) {
            // A file that cannot be removed is harmless: clients ignore a file with the id of a process that has ended.
            let _ = fs::remove_file(&self.path);
        }
    }
}
