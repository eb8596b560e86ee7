//! Visits every folder of a workspace through its handle, so that no path is too long and no link leads out of the
//! workspace. The names of the entries decide which of them are guarded. After a command, the walk also renames new
//! guarded entries (*sets them aside*). Files are never opened.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use holdshort_command::guarded;
use rustix::fs::{Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::SetAside;
use super::findings::{Channel, EarlierFindings, EntryIdentity, GuardFindings, Inode, Item, Kind};
use crate::changeset::guard::BARE;
use crate::limits;

/// Folders in `.git` in which Git writes during normal work, for example a rebase. The guard therefore ignores these
/// folders, but a command line that names one of them needs the approval of a person.
const OF_GITS_OWN_WORK: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

/// Folders in which Git names files after branches. In such a folder, only names that begin with a dot can be guarded,
/// because the name of a branch never begins with a dot.
const NAMED_AFTER_BRANCHES: [&str; 2] = ["refs", "logs"];

/// Beginning of the new name of a guarded path (such as a Git hook) that is renamed after a command. A number follows.
/// The beginning is short, and is not the beginning of a guarded name.
const ASIDE: &str = "set-aside-";

/// Maximum number of folder handles that the walk through the workspace keeps open at the same time. In deeper folders,
/// the walk goes back through `..`, and checks the inode of the folder that it reaches.
const HANDLES: usize = 128;

/// Number of entries after which the walk through the workspace checks again that the server still waits for the
/// result.
const LOOK_EVERY: usize = 4096;

/// Maximum number of path components in a guarded name.
const PARTS: usize = 4;

pub(super) enum Purpose<'a> {
    Look(&'a mut GuardFindings),
    SetAside(&'a EarlierFindings, &'a mut SetAside),
}

pub(super) struct Walk<'a> {
    purpose: Purpose<'a>,
    is_wanted: &'a dyn Fn() -> bool,
    /// Path of the folder that the walk examines, relative to the workspace, as names.
    names: Vec<OsString>,
    left: usize,
}

/// Folder on the path of the walk, and its subfolders that the walk has not visited yet.
struct Level {
    handle: Option<OwnedFd>,
    inode: Inode,
    ahead: Vec<OsString>,
    git: Git,
}

/// Meaning of a folder of the workspace for Git.
#[derive(Clone, Copy)]
enum Git {
    Nothing,
    /// A folder inside a Git repository. The value is the depth below the repository's folder, which has depth 0.
    Within(usize),
    /// A folder of a Git repository in which files may be named after branches.
    Branches,
}

impl<'a> Walk<'a> {
    pub(super) fn new(purpose: Purpose<'a>, is_wanted: &'a dyn Fn() -> bool) -> Self {
        Self { purpose, is_wanted, names: Vec::new(), left: limits::GUARD_ENTRIES }
    }

    pub(super) fn go(mut self, root: BorrowedFd<'_>) -> io::Result<()> {
        // Opens a separate handle, since reading entries moves the position of the handle that is read.
        let mut current = open(root, OsStr::new("."))?;
        let mut levels = vec![self.enter(current.as_fd(), Git::Nothing, false)?];
        loop {
            let depth = levels.len();
            let Some(level) = levels.last_mut() else { return Ok(()) };
            if let Some(name) = level.ahead.pop() {
                let Some(next) = self.open(current.as_fd(), &name)? else { continue };
                let git = git_of(level.git, &name);
                let is_git = matches!(git, Git::Within(0));
                let above = std::mem::replace(&mut current, next);
                if depth <= HANDLES {
                    level.handle = Some(above);
                }
                self.names.push(name);
                levels.push(self.enter(current.as_fd(), git, is_git)?);
                continue;
            }
            levels.pop();
            self.names.pop();
            let Some(above) = levels.last_mut() else { return Ok(()) };
            current = match above.handle.take() {
                Some(handle) => handle,
                None => open(current.as_fd(), OsStr::new(".."))?,
            };
            if Inode::of_handle(current.as_fd())? != above.inode {
                return Err(io::Error::other("a directory was moved during the search; try again"));
            }
        }
    }

    /// Examines the entries of a folder. `is_git` is true if the name of this folder identifies a Git repository.
    fn enter(&mut self, folder: BorrowedFd<'_>, mut git: Git, is_git: bool) -> io::Result<Level> {
        let inode = Inode::of_handle(folder)?;
        let entries = self.entries(folder)?;
        let has = |wanted: &str| entries.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
        let is_bare = !is_git && (BARE.iter().all(|name| has(name)) || (has("HEAD") && has("commondir")));
        if is_bare {
            git = Git::Within(0);
        }
        let mut is_new = false;
        if is_git || is_bare {
            let path: PathBuf = self.names.iter().collect();
            match &mut self.purpose {
                Purpose::Look(found) => found.repositories.push(Item { path, inode, link: None }),
                Purpose::SetAside(before, _) => is_new = !before.has_repository(inode),
            }
        }
        let mut level = Level { handle: None, inode, ahead: Vec::new(), git };
        let mut number = 0;
        for (name, kind) in entries {
            let is_folder = kind == Kind::Folder;
            if let (Purpose::Look(found), Kind::Channel) = (&mut self.purpose, kind) {
                let path = self.names.iter().map(OsString::as_os_str).chain([name.as_os_str()]).collect();
                found.channels.push(Channel(path));
            }
            // After `HEAD` is renamed, git no longer accepts the folder as a repository.
            let ends_repository = is_new && is_bare && name.eq_ignore_ascii_case("HEAD");
            let is_repository = is_folder && name.eq_ignore_ascii_case(".git");
            if !(ends_repository || is_repository || self.is_guarded(&name, git)) {
                if is_folder {
                    level.ahead.push(name);
                }
                continue;
            }
            match self.judge(folder, &name, is_repository, ends_repository, &mut number)? {
                After::Enter(name) => level.ahead.push(name),
                After::Pass => {}
            }
        }
        if let Purpose::Look(found) = &self.purpose {
            for (count, of) in [
                (found.guarded.len() + found.repositories.len(), "guarded files and repositories"),
                (found.channels.len(), "sockets and pipes"),
            ] {
                if count > limits::GUARDED_NAMES {
                    let most = limits::GUARDED_NAMES;
                    return Err(io::Error::other(format!("the workspace contains more than {most} {of}")));
                }
            }
        }
        Ok(level)
    }

    /// Records or renames an entry that is guarded (such as a Git hook), or whose name makes its folder a Git
    /// repository.
    fn judge(
        &mut self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        is_repository: bool,
        ends_repository: bool,
        number: &mut u32,
    ) -> io::Result<After> {
        let path: PathBuf = self.names.iter().map(OsString::as_os_str).chain([name]).collect();
        let seen = match EntryIdentity::examine(folder, name) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(After::Pass),
            seen => seen?,
        };
        match &mut self.purpose {
            Purpose::Look(found) if !is_repository => {
                found.guarded.push(Item::from_entry(folder, name, path, &seen)?);
                Ok(After::Pass)
            }
            // The repository is recorded later, when the walk enters it.
            Purpose::Look(_) => Ok(After::Enter(name.to_owned())),
            Purpose::SetAside(before, _) if is_repository && before.has_repository(seen.inode) => {
                Ok(After::Enter(name.to_owned()))
            }
            Purpose::SetAside(before, aside) => {
                let item = Item::from_entry(folder, name, path, &seen)?;
                if !is_repository && !ends_repository && before.has(&item) {
                    return Ok(After::Pass);
                }
                let Ok(now) = rename(folder, name, number) else {
                    aside.left(&item.path);
                    return Ok(After::Pass);
                };
                aside.renamed(&item.path, &now);
                // Under its new name the folder is an ordinary folder. The walk enters it, because it may contain
                // guarded paths.
                Ok(if seen.kind == Kind::Folder { After::Enter(now) } else { After::Pass })
            }
        }
    }

    /// Returns true if the path of the folder that the walk examines, followed by `name`, is a guarded path.
    fn is_guarded(&self, name: &OsStr, git: Git) -> bool {
        let depth = match git {
            Git::Within(0) if OF_GITS_OWN_WORK.iter().any(|own| name == *own) => return false,
            Git::Branches if !name.as_bytes().starts_with(b".") => return false,
            Git::Within(depth) => Some(depth),
            Git::Nothing | Git::Branches => None,
        };
        let above = self.names.iter().rev().take(PARTS - 1).rev().map(|name| name.to_string_lossy());
        let mut names: Vec<Cow<'_, str>> = above.chain([name.to_string_lossy()]).collect();
        if guarded::ends_guarded(&names) {
            return true;
        }
        // A repository is guarded whatever its folder is called, so the rules for `.git` apply to it.
        let Some(depth) = depth.filter(|depth| depth + 2 <= names.len()) else { return false };
        let at = names.len() - depth - 2;
        names[at] = Cow::Borrowed(".git");
        guarded::ends_guarded(&names[at..])
    }

    fn entries(&mut self, folder: BorrowedFd<'_>) -> io::Result<Vec<(OsString, Kind)>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            self.left = self.left.checked_sub(1).ok_or_else(|| {
                io::Error::other(format!(
                    "the workspace contains more than {} files, too many to search for git's configuration",
                    limits::GUARD_ENTRIES
                ))
            })?;
            if self.left.is_multiple_of(LOOK_EVERY) && !(self.is_wanted)() {
                return Err(io::Error::other("the result of the command is no longer needed"));
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    EntryIdentity::examine(folder, name).map_or(Kind::Other, |seen| seen.kind)
                }
                kind => Kind::from(kind),
            };
            entries.push((name.to_owned(), kind));
        }
        Ok(entries)
    }

    /// Opens a folder of the workspace. Returns `None` if the folder no longer exists or is unreadable. An unreadable
    /// folder is recorded.
    fn open(&mut self, folder: BorrowedFd<'_>, name: &OsStr) -> io::Result<Option<OwnedFd>> {
        match open(folder, name) {
            Ok(handle) => Ok(Some(handle)),
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Err(Errno::ACCESS | Errno::PERM) => {
                let path: PathBuf = self.names.iter().map(OsString::as_os_str).chain([name]).collect();
                let inode = EntryIdentity::examine(folder, name).map(|seen| seen.inode);
                match (&mut self.purpose, inode) {
                    (Purpose::Look(found), Ok(inode)) => found.unreadable.push(inode),
                    (Purpose::SetAside(before, _), Ok(inode)) if before.could_not_read(inode) => {}
                    (Purpose::SetAside(_, aside), _) => aside.left(&path),
                    (Purpose::Look(_), Err(e)) => return Err(e),
                }
                Ok(None)
            }
            Err(e) => Err(e.into()),
        }
    }
}

enum After {
    Enter(OsString),
    Pass,
}

/// Returns the meaning of a folder for Git, derived from the meaning of its parent folder.
fn git_of(above: Git, name: &OsStr) -> Git {
    if name.eq_ignore_ascii_case(".git") {
        return Git::Within(0);
    }
    match above {
        Git::Nothing => Git::Nothing,
        Git::Within(0) if NAMED_AFTER_BRANCHES.iter().any(|branches| name == *branches) => Git::Branches,
        Git::Within(depth) => Git::Within(depth + 1),
        Git::Branches => Git::Branches,
    }
}

fn open(folder: BorrowedFd<'_>, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    rustix::fs::openat(folder, name, flags, Mode::empty())
}

/// Renames a guarded entry to the next free name that begins with [`ASIDE`]. If the folder of the entry is not
/// writable, it is made writable first, if that is permitted.
fn rename(folder: BorrowedFd<'_>, name: &OsStr, number: &mut u32) -> rustix::io::Result<OsString> {
    let mut may_change_mode = true;
    loop {
        let now = OsString::from(format!("{ASIDE}{}", *number + 1));
        match rustix::fs::renameat_with(folder, name, folder, &now, RenameFlags::NOREPLACE) {
            Ok(()) => {
                *number += 1;
                return Ok(now);
            }
            Err(Errno::EXIST) => *number += 1,
            // The file system cannot rename without replacing, so the new name is checked first.
            Err(Errno::INVAL | Errno::NOSYS) => {
                if EntryIdentity::examine(folder, &now).is_ok() {
                    *number += 1;
                    continue;
                }
                rustix::fs::renameat(folder, name, folder, &now)?;
                return Ok(now);
            }
            Err(Errno::ACCESS | Errno::PERM) if may_change_mode => {
                may_change_mode = false;
                let mode = Mode::from_raw_mode(rustix::fs::fstat(folder)?.st_mode);
                rustix::fs::fchmod(folder, mode | Mode::RWXU)?;
            }
            Err(e) => return Err(e),
        }
        if *number >= limits::SET_ASIDE_NUMBERS {
            return Err(Errno::EXIST);
        }
    }
}
