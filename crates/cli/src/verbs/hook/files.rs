//! Files of the hooks: the folder `hooks/` in the data folder with its lock, and the settings files of coding agents.
//!
//! Settings are replaced in one step, and keep mode, owner and group. A settings file is only read and written if it
//! is a plain file of this user.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};

use anyhow::Context;
use holdshort_http::secret_file;
use rustix::fs::{Access, access};
use rustix::process::geteuid;

use super::coding_cli::CodingCli;
use super::settings::Folders;
use crate::data_dir::DataDir;
use crate::exit::usage;
use crate::limits::SETTINGS_BYTES;
use crate::output::print_message;

const FOLDER: &str = "hooks";
const LOCK: &str = "install.lock";

/// Folder of the hooks in the data folder of a user.
#[derive(Clone, Debug)]
pub(crate) struct HookFolder {
    pub path: PathBuf,
}

impl HookFolder {
    pub(crate) fn in_data(data: &DataDir) -> Self {
        Self { path: data.path.join(FOLDER) }
    }

    pub(crate) fn config(&self, cli: CodingCli) -> PathBuf {
        self.path.join(format!("{}.json", cli.word()))
    }

    pub(crate) fn key(&self, cli: CodingCli) -> PathBuf {
        self.path.join(format!("{}.key", cli.word()))
    }

    pub(crate) fn record(&self, cli: CodingCli) -> PathBuf {
        self.path.join(format!("{}.installed.json", cli.word()))
    }

    /// Creates the folder, open to its owner only. The data folder is created with it.
    pub(crate) fn create(&self) -> anyhow::Result<()> {
        let shown = || format!("{} cannot be created", self.path.display());
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.path).with_context(shown)?;
        // An earlier program, or a copy of the folder, may have left other permissions.
        fs::set_permissions(&self.path, fs::Permissions::from_mode(0o700)).with_context(shown)
    }

    /// Waits until no other installation runs. The lock ends with the returned file.
    pub(crate) fn lock(&self) -> anyhow::Result<File> {
        let path = self.path.join(LOCK);
        let shown = || format!("{} cannot be locked", path.display());
        let file =
            File::options().create(true).truncate(false).write(true).open(&path).with_context(shown)?;
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(error).with_context(shown),
        }
        print_message("Another `holdshort hook` command is running. Waiting for its end …");
        file.lock().with_context(shown)?;
        Ok(file)
    }
}

pub(crate) fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// Replaces a file that only its owner may read. After a crash, the old file or the new file is complete.
pub(crate) fn replace_private(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let shown = || format!("{} cannot be written", path.display());
    let folder = path.parent().with_context(shown)?;
    // The file has mode 0600 from its creation.
    let mut file = tempfile::NamedTempFile::new_in(folder).with_context(shown)?;
    file.write_all(bytes).with_context(shown)?;
    file.as_file().sync_all().with_context(shown)?;
    file.persist(path).with_context(shown)?;
    sync_folder(folder);
    Ok(())
}

/// Removes a file. A missing file is not an error.
pub(crate) fn remove(path: &Path) -> anyhow::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !is_missing(&error) => {
            Err(error).with_context(|| format!("{} cannot be removed", path.display()))
        }
        _ => Ok(()),
    }
}

/// Returns the folders of the settings of this user.
pub(crate) fn settings_folders() -> anyhow::Result<Folders> {
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let home = variable("HOME").ok_or_else(|| usage("HOME is not set: the settings cannot be found"))?;
    Ok(Folders::from_variables(home, &variable))
}

fn sync_folder(folder: &Path) {
    // Some file systems cannot flush a folder. The file itself is already on the disk.
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Settings file of a coding agent, as it was read.
#[derive(Clone, Debug)]
pub(crate) struct SettingsFile {
    pub path: PathBuf,
    /// `None` if the file does not exist.
    pub found: Option<FoundFile>,
}

#[derive(Clone, Debug)]
pub(crate) struct FoundFile {
    pub text: String,
    mode: u32,
    owner: u32,
    group: u32,
}

impl SettingsFile {
    /// Reads settings that will be changed. Refuses links, files of other users and files that cannot be written.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if is_missing(&error) => return Ok(Self { path: path.to_owned(), found: None }),
            Err(error) => return Err(error).with_context(|| format!("{shown} cannot be read")),
        };
        let kind = found.file_type();
        if kind.is_symlink() {
            let target = fs::read_link(path).unwrap_or_default();
            return Err(usage(format!(
                "{shown} is a link to {}: replace the link with the file, because whoever can change the target can remove the hook",
                target.display()
            )));
        }
        if !kind.is_file() {
            return Err(usage(format!("{shown} is not a file")));
        }
        if found.nlink() > 1 {
            return Err(usage(format!(
                "{shown} is one of {} hard links to the same file: replace it with a copy",
                found.nlink()
            )));
        }
        let user = geteuid().as_raw();
        if found.uid() != user {
            return Err(usage(format!(
                "{shown} belongs to the user with id {}, but you are {user}: run the command as that user",
                found.uid()
            )));
        }
        if found.mode() & 0o200 == 0 || access(path, Access::WRITE_OK).is_err() {
            return Err(usage(format!("{shown} is read-only: run `chmod u+w {shown}`")));
        }
        if let Some(folder) = path.parent()
            && access(folder, Access::WRITE_OK | Access::EXEC_OK).is_err()
        {
            return Err(usage(format!("{} is read-only: the settings cannot be replaced", folder.display())));
        }
        let text = text(path)?.unwrap_or_default();
        let (mode, owner, group) = (found.mode() & 0o7777, found.uid(), found.gid());
        Ok(Self { path: path.to_owned(), found: Some(FoundFile { text, mode, owner, group }) })
    }

    pub(crate) fn text(&self) -> &str {
        self.found.as_ref().map_or("", |found| &found.text)
    }

    /// Replaces the file in one step. Fails if the file changed after it was read. Returns the paths that were created,
    /// the outermost first.
    pub(crate) fn replace(&self, text: &str) -> anyhow::Result<Vec<PathBuf>> {
        let shown = || format!("{} cannot be written", self.path.display());
        let folder = self.path.parent().with_context(shown)?;
        let mut created: Vec<PathBuf> =
            folder.ancestors().take_while(|each| !each.exists()).map(Path::to_path_buf).collect();
        created.reverse();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).with_context(shown)?;
        let mut file = tempfile::NamedTempFile::new_in(folder).with_context(shown)?;
        file.write_all(text.as_bytes()).with_context(shown)?;
        if let Some(found) = &self.found {
            fchown(file.as_file(), Some(found.owner), Some(found.group)).with_context(shown)?;
            // After the owner, because a change of the owner can clear bits of the mode.
            let mode = fs::Permissions::from_mode(found.mode);
            file.as_file().set_permissions(mode).with_context(shown)?;
        }
        file.as_file().sync_all().with_context(shown)?;
        self.refuse_change()?;
        if self.found.is_some() {
            file.persist(&self.path).with_context(shown)?;
        } else {
            file.persist_noclobber(&self.path).with_context(shown)?;
            created.push(self.path.clone());
        }
        sync_folder(folder);
        Ok(created)
    }

    /// Deletes the file, if it did not change after it was read.
    pub(crate) fn delete(&self) -> anyhow::Result<()> {
        self.refuse_change()?;
        remove(&self.path)
    }

    fn refuse_change(&self) -> anyhow::Result<()> {
        let now = Self::read(&self.path)?;
        let text = |file: &Self| file.found.as_ref().map(|found| found.text.clone());
        if text(&now) == text(self) {
            return Ok(());
        }
        let shown = self.path.display();
        anyhow::bail!("{shown} was changed by another program in the meantime: repeat the command")
    }
}

/// Returns the text of a file that is only read. `None` if it does not exist.
pub(crate) fn text(path: &Path) -> anyhow::Result<Option<String>> {
    let shown = path.display();
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if is_missing(&error) => return Ok(None),
        Err(error) => return Err(usage(format!("{shown} cannot be read: {error}"))),
    };
    let bytes =
        secret_file::bounded(file, SETTINGS_BYTES).map_err(|error| usage(format!("{shown} {error}")))?;
    let text = String::from_utf8(bytes).map_err(|_| usage(format!("{shown} is not UTF-8 text")))?;
    Ok(Some(text))
}
