//! Paths of the three files of a journal: the database, its write-ahead log, and the index of the log in shared memory.
//!
//! SQLite locks the database and the index with POSIX file locks. When a process closes one of its descriptors of a
//! file, the kernel drops all POSIX locks that the process has on this file. Another program could then get the locks,
//! conclude that it is the only user, and delete the log with the commits in it. Therefore only SQLite is allowed to
//! open these files while this process has a connection to the database. All other code only calls `stat` for these
//! files. There is one exception, [`Unopened`], which can be used before there is a connection.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::folder::{Lock, private};

const DATABASE: &str = "holdshort.db";
const LOG: &str = "holdshort.db-wal";
const INDEX: &str = "holdshort.db-shm";

/// Paths of the files of one data folder. The files may not exist.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    folder: PathBuf,
}

impl Files {
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the path of the database. Only SQLite is allowed to open it.
    pub(crate) fn database(&self) -> PathBuf {
        self.folder.join(DATABASE)
    }

    /// Returns true if the write-ahead log exists and is not empty.
    pub(crate) fn has_log(&self) -> bool {
        fs::metadata(self.folder.join(LOG)).is_ok_and(|log| log.len() > 0)
    }

    /// Gives access to the files without `SQLite`. The parameter `lock` proves that this process has no connection to
    /// the database, because every open journal holds the lock of its folder.
    pub(crate) fn unopened<'a>(&'a self, lock: &'a Lock) -> Unopened<'a> {
        Unopened { files: self, _lock: lock }
    }
}

/// Access to the files of a database without `SQLite`. Safe because this process has no connection to the database.
#[derive(Clone, Copy)]
pub(crate) struct Unopened<'a> {
    files: &'a Files,
    _lock: &'a Lock,
}

impl Unopened<'_> {
    pub(crate) fn files(&self) -> &Files {
        self.files
    }

    /// Creates an empty database file if there is none. Only the owner can read it. SQLite creates its other files with
    /// the same permissions.
    pub(crate) fn make(self) -> io::Result<()> {
        match private().create_new(true).open(self.files.database()) {
            Ok(_) => Ok(()),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Opens the write-ahead log for reading. Returns `None` if there is no log.
    pub(crate) fn open_log(self) -> io::Result<Option<File>> {
        match File::open(self.log()) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn log(self) -> PathBuf {
        self.files.folder.join(LOG)
    }

    /// Returns the state of the write-ahead log. The header of the database file tells if the database uses a log.
    pub(crate) fn log_state(self) -> io::Result<LogState> {
        /// Offset of the field "write version" in the header of the database:
        /// <https://www.sqlite.org/fileformat2.html>.
        const WRITE_VERSION: u64 = 18;
        const WITH_LOG: u8 = 2;
        if self.files.has_log() {
            return Ok(LogState::There);
        }
        let mut version = [0];
        match File::open(self.files.database())?.read_exact_at(&mut version, WRITE_VERSION) {
            Ok(()) if version == [WITH_LOG] => Ok(LogState::Missing),
            Ok(()) => Ok(LogState::NotNeeded),
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(LogState::NotNeeded),
            Err(error) => Err(error),
        }
    }
}

/// State of SQLite's write-ahead log while no server has the database open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogState {
    There,
    /// The write-ahead log is missing or empty, although the header of the database says that the database uses one. A
    /// missing log is normal for a database that was closed.
    Missing,
    /// The database does not use a log, for example because SQLite's `VACUUM INTO` created it.
    NotNeeded,
}

/// Device number and inode number, which identify a file. If another file is put at the same path, its numbers are
/// different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn read(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        Ok(Self { device: found.dev(), inode: found.ino() })
    }
}

/// The files that SQLite opened, with their identities.
///
/// While a connection is open, these files are not replaced: neither SQLite nor a program that respects SQLite's locks
/// does this.
#[derive(Debug)]
pub(crate) struct OpenedFiles {
    files: Files,
    identities: [(&'static str, Identity); 3],
}

impl OpenedFiles {
    /// Records the identities of the files of an open database. Something must have been written to the database
    /// before, so that all its files exist.
    pub(crate) fn note(files: Files) -> io::Result<Self> {
        let identity = |name| Ok::<_, io::Error>((name, Identity::read(&files.folder.join(name))?));
        let identities = [identity(DATABASE)?, identity(LOG)?, identity(INDEX)?];
        Ok(Self { files, identities })
    }

    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// Returns an error if one of the files was deleted or replaced. The error contains the name of the file.
    pub(crate) fn check(&self) -> Result<(), String> {
        for (name, opened) in &self.identities {
            let path = self.files.folder.join(name);
            match Identity::read(&path) {
                Ok(found) if found == *opened => {}
                Ok(_) => {
                    return Err(format!(
                        "another program replaced the file {name} while this server used it ({})",
                        path.display()
                    ));
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Err(format!(
                        "another program deleted the file {name} while this server used it ({})",
                        path.display()
                    ));
                }
                // An error of `stat` does not prove that the file was replaced. Therefore the journal stays open.
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "a journal file cannot be inspected");
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Tests that no other source file of this crate opens the files of the journal.
    #[test]
    fn no_other_source_names_a_file_of_the_journal() {
        let mut pending = vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src")];
        let mut found = Vec::new();
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    pending.push(path);
                } else if !path.ends_with("sqlite/files.rs") {
                    let text = fs::read_to_string(&path).unwrap();
                    let names = [DATABASE, LOG, INDEX].map(|name| format!("\"{name}\""));
                    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                    if names.iter().any(|name| code.contains(name)) || code.contains("-wal\"") {
                        found.push(path);
                    }
                }
            }
        }
        assert_eq!(found, Vec::<PathBuf>::new());
    }

    #[test]
    fn a_file_that_was_deleted_or_replaced_is_named() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        for name in [DATABASE, LOG, INDEX] {
            fs::write(path(name), "").unwrap();
        }
        let opened = OpenedFiles::note(Files::in_folder(folder.path())).unwrap();
        assert_eq!(opened.check(), Ok(()));
        for name in [DATABASE, LOG, INDEX] {
            fs::rename(path(name), path("moved")).unwrap();
            let why = opened.check().unwrap_err();
            assert!(why.starts_with(&format!("another program deleted the file {name} ")), "{why}");
            fs::write(path(name), "").unwrap();
            let why = opened.check().unwrap_err();
            assert!(why.starts_with(&format!("another program replaced the file {name} ")), "{why}");
            fs::rename(path("moved"), path(name)).unwrap();
            assert_eq!(opened.check(), Ok(()));
        }
    }
}
