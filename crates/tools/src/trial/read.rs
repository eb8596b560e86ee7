//! Compares the layer of a trial with the workspace as it is now, and returns the changes.
//!
//! At this time, no process of the command is running any more. The command may have written anything into the layer,
//! so only files, links and folders are read. Links are never followed. Files are compared by their content.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use holdshort_core::changeset::{Change, Entry, text_of};
use rustix::fs::{AtFlags, FileType, Mode, Stat};

use crate::changeset::{ObservedPath, Root, entry, folder, observe_path};
use crate::limits;
use crate::sandbox::Notes;

/// Timestamp of a file, in seconds and nanoseconds.
pub(super) type Time = (i64, i64);

#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    #[error("the command changed more than {} files, directories and links", limits::CHANGED_PATHS)]
    TooMany,
    #[error(
        "the files that the command changed are larger than {} MiB in total",
        limits::CHANGED_BYTES / 1024 / 1024
    )]
    TooManyBytes,
    #[error(
        "the command changed `{path}`, a file of more than {} MiB",
        limits::CHANGED_FILE_BYTES / 1024 / 1024
    )]
    TooLarge { path: String },
    #[error("a path is longer than {} bytes", limits::PATH_BYTES)]
    TooLong,
    /// Another process changed these paths in the workspace while the trial's command ran.
    #[error("another process changed files in the workspace while the command ran")]
    Meanwhile(Vec<String>),
    #[error("`{path}` cannot be read: {source}")]
    Unreadable { path: String, source: io::Error },
}

impl Error {
    /// Returns a stable code for the reason why the changes of a trial must be discarded.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::TooMany => "too_many_paths",
            Self::TooManyBytes => "too_many_bytes",
            Self::TooLarge { .. } => "file_too_large",
            Self::TooLong => "path_too_long",
            Self::Meanwhile(_) => "changed_meanwhile",
            Self::Unreadable { .. } => "unreadable",
        }
    }
}

/// Differences between the layer of a trial (the folder with the writes of a command) and the files that this layer
/// covers. The state `before` of a change is that of the workspace. `before` equals `after` if only the layer of the
/// run differs.
#[derive(Default)]
pub(super) struct TrialDifferences {
    pub changes: Vec<Change>,
    /// Entries that the layer of the run (with the earlier Git-ignored files) has at the changed paths.
    pub in_layer: BTreeMap<String, Entry>,
    /// Files that the trial changed and that have several hard links, before or after the change.
    pub linked: BTreeSet<String>,
    /// Codes of the reasons why a person must be asked about the trial; see `Inspection::ask_because`.
    pub codes: BTreeSet<&'static str>,
}

/// Compares the layer of a trial with the files that the command saw when it started: the workspace, with the layer of
/// the run mounted over the workspace.
///
///
/// `notes` are the extended attributes in which an overlay stores its marks. If `notes` is `None`, the layer is a copy
/// of the whole workspace. `since` is a time before the start of the command.
pub(super) fn read(
    layer: &Root,
    below: Below<'_>,
    notes: Option<Notes>,
    since: Time,
) -> Result<TrialDifferences, Error> {
    let mut reader = Reader {
        layer,
        below,
        notes,
        since,
        left: TrialDifferences::default(),
        looked_at: 0,
        bytes: 0,
        meanwhile: Vec::new(),
        ahead: vec![Folder { path: Vec::new(), in_layer: true, in_workspace: true, hides: notes.is_none() }],
    };
    while let Some(folder) = reader.ahead.pop() {
        reader.compare(&folder)?;
    }
    if reader.meanwhile.is_empty() { Ok(reader.left) } else { Err(Error::Meanwhile(reader.meanwhile)) }
}

/// Folders that the layer of a trial covers: the layer of the run if it exists, and the workspace below this layer.
#[derive(Clone, Copy)]
pub(super) struct Below<'a> {
    pub run_layer: Option<&'a Root>,
    pub workspace: &'a Root,
}

/// Folder whose entries in the trial's layer and in the workspace are compared.
struct Folder {
    path: Vec<u8>,
    in_layer: bool,
    in_workspace: bool,
    /// True if the trial's layer hides the workspace's entries in this folder. An entry that is missing in such a layer
    /// was deleted.
    hides: bool,
}

struct Reader<'a> {
    layer: &'a Root,
    below: Below<'a>,
    notes: Option<Notes>,
    since: Time,
    left: TrialDifferences,
    looked_at: usize,
    bytes: u64,
    meanwhile: Vec<String>,
    ahead: Vec<Folder>,
}

fn unreadable<E: Into<io::Error>>(path: &[u8]) -> impl FnOnce(E) -> Error {
    let path = String::from_utf8_lossy(path).escape_debug().to_string();
    |e| Error::Unreadable { path, source: e.into() }
}

impl Reader<'_> {
    fn compare(&mut self, at: &Folder) -> Result<(), Error> {
        let open = |root: &Root, is_there: bool| {
            is_there.then(|| root.folder(&at.path)).transpose().map_err(unreadable(&at.path))
        };
        let above = open(self.layer, at.in_layer)?;
        let below = open(self.below.workspace, at.in_workspace)?;
        // If the run's layer cannot be opened, it is treated as empty.
        let run_layer = self.below.run_layer.and_then(|root| root.folder(&at.path).ok());
        let hides = at.hides || above.as_ref().is_some_and(|folder| self.is_opaque(folder.as_fd()));
        let mut names: BTreeSet<OsString> = BTreeSet::new();
        for folder in above.iter().chain(below.iter().chain(&run_layer).filter(|_| hides)) {
            names.extend(folder::list(folder).map_err(unreadable(&at.path))?);
        }
        for name in names {
            self.looked_at += 1;
            if self.looked_at > limits::CHANGED_PATHS {
                return Err(Error::TooMany);
            }
            let folders = [&above, &below, &run_layer].map(|folder| folder.as_ref().map(AsFd::as_fd));
            self.name(at, folders, &name, hides)?;
        }
        Ok(())
    }

    fn name(
        &mut self,
        at: &Folder,
        [above, below, run_layer]: [Option<BorrowedFd<'_>>; 3],
        name: &OsStr,
        hides: bool,
    ) -> Result<(), Error> {
        let path = folder::join(&at.path, name);
        if path.len() > limits::PATH_BYTES {
            return Err(Error::TooLong);
        }
        let above = above
            .map_or(Ok(ObservedPath::Nothing), |folder| self.in_layer(folder, name))
            .map_err(unreadable(&path))?;
        let look = |folder| observe_path(folder, name, limits::CHANGED_FILE_BYTES);
        let below = below.map_or(Ok(ObservedPath::Nothing), look).map_err(unreadable(&path))?;
        let run_layer = run_layer.map_or(Ok(ObservedPath::Nothing), look).map_err(unreadable(&path))?;
        let is_folder = |seen: &ObservedPath| matches!(seen.entry(), Some(Entry::Folder { .. }));
        let (in_layer, in_run_layer) = (is_folder(&above), is_folder(&run_layer));
        // A file or a link in the run's layer hides a folder of the workspace.
        let in_workspace = is_folder(&below) && (in_run_layer || run_layer.entry().is_none());
        self.put(&path, &above, &below, run_layer.entry())?;
        if in_layer || in_workspace || in_run_layer {
            let hides = hides || !in_layer;
            self.ahead.push(Folder { path, in_layer, in_workspace, hides });
        }
        Ok(())
    }

    /// Reads the entry with this name in the trial's layer, which has the command's writes. The kernel's mark for a
    /// deleted entry is treated as an absent entry.
    fn in_layer(&self, folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<ObservedPath> {
        let Some(stat) = entry::stat(folder, name)? else { return Ok(ObservedPath::Nothing) };
        if self.notes.is_some() && is_whiteout(&stat) {
            return Ok(ObservedPath::Nothing);
        }
        let found = observe_path(folder, name, limits::CHANGED_FILE_BYTES)?;
        let is_closed = stat.st_mode & READ_FOLDER != READ_FOLDER;
        if is_closed && FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            // Makes the folder readable. The mode that the command gave it is already recorded.
            rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::empty())?;
        }
        Ok(found)
    }

    fn put(
        &mut self,
        path: &[u8],
        above: &ObservedPath,
        below: &ObservedPath,
        run_layer: Option<&Entry>,
    ) -> Result<(), Error> {
        let text = text_of(path);
        if matches!(above, ObservedPath::TooLarge) || matches!(below, ObservedPath::TooLarge) {
            return Err(Error::TooLarge { path: text });
        }
        // A copy contains no special files, so it does not show whether a special file was changed.
        let is_uncopied =
            self.notes.is_none() && matches!((above, below), (ObservedPath::Nothing, ObservedPath::Special));
        if is_uncopied {
            return Ok(());
        }
        if matches!(above, ObservedPath::Special) || matches!(below, ObservedPath::Special) {
            self.left.codes.insert("special_file");
        }
        let (before, after) = (below.entry().cloned(), above.entry().cloned());
        let shown = run_layer.or(before.as_ref());
        if shown == after.as_ref() || matches!(below, ObservedPath::Special) {
            return Ok(());
        }
        if let ObservedPath::Entry(Entry::File { .. } | Entry::Symlink { .. }, stat) = below
            && (stat.st_ctime, i64::try_from(stat.st_ctime_nsec).unwrap_or_default()) > self.since
        {
            self.meanwhile.push(text.clone());
        }
        if has_other_names(above) || (after.is_some() && has_other_names(below)) {
            self.left.linked.insert(text.clone());
        }
        if let Some(entry) = run_layer {
            self.left.in_layer.insert(text.clone(), entry.clone());
        }
        if let Some(Entry::File { bytes, .. }) = after {
            self.bytes += bytes;
        }
        if self.bytes > limits::CHANGED_BYTES {
            return Err(Error::TooManyBytes);
        }
        self.left.changes.push(Change { path: text, before, after, ignored: false });
        Ok(())
    }

    fn is_opaque(&self, folder: BorrowedFd<'_>) -> bool {
        let mut value = [0; 2];
        self.notes.is_some_and(|notes| {
            let read = rustix::fs::fgetxattr(folder, notes.opaque(), &mut value);
            read.is_ok_and(|length| value[..length] == *b"y")
        })
    }
}

const READ_FOLDER: u32 = 0o500;

/// Returns true if a directory entry is a whiteout: the mark of an overlay for a deleted entry of the lower folder.
fn is_whiteout(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice && stat.st_rdev == 0
}

fn has_other_names(seen: &ObservedPath) -> bool {
    matches!(seen, ObservedPath::Entry(Entry::File { .. }, stat) if stat.st_nlink > 1)
}
