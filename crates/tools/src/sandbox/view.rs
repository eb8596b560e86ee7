//! The command's own view of the file system: an empty root that contains only the folders that the command is allowed
//! to use, at their usual paths.
//!
//! For access to files, Landlock is the first line of defence, and the view is the second. For operations that Landlock
//! does not restrict, the view is the first: for example, the socket of a container service is missing in it. This
//! module never changes a mount of the host.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use holdshort_core::tool::CommandEffect;
use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::sched::{CloneFlags, unshare};
use nix::sys::statvfs::{FsFlags, statvfs};
use nix::unistd::{chdir, pivot_root};

use super::folders;
use super::guard::GuardFindings;
use super::landlock::{DEVICES, SHARED_MEMORY};
use super::layer::Lower;
use super::plan::Plan;

const NOTHING: Option<&str> = None;
const ROOT_OPTIONS: &str = "size=4m,mode=0755";
const SHARED_MEMORY_OPTIONS: &str = "size=256m,mode=1777";

/// Builds the command's view of the file system and enters it. The current process must be in mount and process
/// namespaces of its own.
pub(super) fn enter(plan: &Plan, found: &GuardFindings) -> io::Result<()> {
    // The first stage stays in its own mount namespace, so the mounts made here are invisible to the first stage.
    unshare(CloneFlags::CLONE_NEWNS)?;
    // Mounts made here do not propagate to the host.
    mount(NOTHING, "/", NOTHING, MsFlags::MS_REC | MsFlags::MS_PRIVATE, NOTHING)?;
    let root = plan.view_root();
    mount(
        Some("holdshort"),
        &root,
        Some("tmpfs"),
        MsFlags::MS_NOSUID | MsFlags::MS_NODEV,
        Some(ROOT_OPTIONS),
    )?;
    let view = View { root };

    for path in folders::system(plan).iter().map(PathBuf::as_path).chain([Path::new("/etc")]) {
        view.show(path, Use::Read)?;
    }
    view.devices()?;
    let proc = view.folder(Path::new("/proc"))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), &proc, Some("proc"), flags, NOTHING)?;

    let private = view.folder(&plan.private())?;
    bind(&plan.private_on_host(), &private, Use::Write)?;
    symlink(plan.private(), view.folder(Path::new("/var"))?.join("tmp"))?;
    // These folders are mounted after the private folder, which may contain these folders. After sorting, a folder
    // comes before its content.
    let mut shown: Vec<_> = plan.tool_folders.iter().map(|folder| (folder.as_path(), Use::Read)).collect();
    shown.push((&plan.workspace, Use::of_workspace(&plan.effect)));
    let resolver = folders::resolver(plan);
    shown.extend(resolver.iter().map(|file| (file.as_path(), Use::Read)));
    shown.sort();
    for (path, usage) in shown {
        let lower = Lower { run_layer: plan.run_layer.as_deref(), workspace: path };
        match &plan.layer {
            Some(layer) if path == plan.workspace => layer.mount(lower, &view.folder(path)?)?,
            // If the kernel refuses the overlay, the command reads the workspace without the run's layer.
            None if path == plan.workspace
                && usage == Use::ReadOnlyNoExec
                && lower.run_layer.is_some()
                && lower.mount_read_only(&view.folder(path)?).is_ok() => {}
            Some(_) | None => view.show(path, usage)?,
        }
    }
    view.open(plan)?;
    view.guard(plan, found)?;
    if plan.closes_channels() {
        view.close(plan, found)?;
    }

    chdir(&view.root)?;
    pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    chdir("/")?;
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    /// The command can read the path. Landlock denies writes. If the kernel allows it, the mount is read-only too.
    Read,
    /// The command can only read the path, even if Landlock allows writes because the workspace is inside a writable
    /// folder.
    ReadOnly,
    /// The command can only read the path, and cannot execute files there.
    ReadOnlyNoExec,
    Write,
}

impl Use {
    fn of_workspace(effect: &CommandEffect) -> Self {
        match effect {
            CommandEffect::Reads => Self::ReadOnlyNoExec,
            CommandEffect::Writes { .. } => Self::ReadOnly,
            CommandEffect::Workspace | CommandEffect::Guarded => Self::Write,
        }
    }
}

struct View {
    root: PathBuf,
}

impl View {
    /// Makes a path of the host visible at the same path in the command's view of the file system. A link is copied,
    /// not followed. A missing path is skipped.
    fn show(&self, path: &Path, usage: Use) -> io::Result<()> {
        let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
        if metadata.is_symlink() {
            let place = self.path_in_view(path);
            self.folder(path.parent().unwrap_or(path))?;
            return match symlink(fs::read_link(path)?, place) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                made => made,
            };
        }
        let place = if metadata.is_dir() { self.folder(path)? } else { self.file(path)? };
        bind(path, &place, usage)
    }

    /// Makes writable those paths of the read-only workspace that the command is allowed to write. A path that does not
    /// exist is skipped.
    fn open(&self, plan: &Plan) -> io::Result<()> {
        if !matches!(plan.effect, CommandEffect::Writes { .. }) {
            return Ok(());
        }
        for path in plan.written() {
            match fs::canonicalize(&path) {
                Ok(real) if real == path => bind(&path, &self.path_in_view(&path), Use::Write)?,
                Ok(_) => return Err(io::Error::other(format!("`{}` leads elsewhere", path.display()))),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Makes guarded paths (such as Git hooks) read-only in the command's view of the file system. Landlock cannot do
    /// this, because it cannot deny a path below a folder that it allows.
    fn guard(&self, plan: &Plan, found: &GuardFindings) -> io::Result<()> {
        let written = plan.written();
        let is_written = |path: &Path| written.iter().any(|place| path.starts_with(place));
        // A mount point cannot be renamed. Each repository becomes a mount point, so that the command cannot move the
        // repository or its guarded paths.
        for item in &found.repositories {
            let folder = plan.workspace.join(&item.path);
            if is_written(&folder) {
                bind(&folder, &self.path_in_view(&folder), Use::Write)?;
            }
        }
        for item in &found.guarded {
            let path = plan.workspace.join(&item.path);
            let path = match &item.link {
                None => path,
                Some(_) => match led_to(&plan.workspace, &path)? {
                    Some(target) => target,
                    None => continue,
                },
            };
            if is_written(&path) || written.iter().any(|place| place.starts_with(&path)) {
                let place = self.path_in_view(&path);
                bind(&path, &place, Use::Write)?;
                read_only(&place, MsFlags::empty())?;
            }
        }
        Ok(())
    }

    /// Mounts an empty read-only file over each socket and pipe of the workspace, because a process of the host may be
    /// listening at the other end.
    fn close(&self, plan: &Plan, found: &GuardFindings) -> io::Result<()> {
        if found.channels.is_empty() {
            return Ok(());
        }
        let nothing = self.file(Path::new("/closed"))?;
        for channel in &found.channels {
            match bind(&nothing, &self.path_in_view(&plan.workspace.join(&channel.0)), Use::ReadOnly) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                bound => bound?,
            }
        }
        fs::remove_file(nothing)
    }

    fn devices(&self) -> io::Result<()> {
        for device in DEVICES {
            bind(Path::new(device), &self.file(Path::new(device))?, Use::Write)?;
        }
        let memory = self.folder(Path::new(SHARED_MEMORY))?;
        let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
        mount(Some("shm"), &memory, Some("tmpfs"), flags, Some(SHARED_MEMORY_OPTIONS))?;
        let links = [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")];
        links.into_iter().try_for_each(|(name, descriptor)| {
            symlink(format!("/proc/self/fd{descriptor}"), self.path_in_view(Path::new("/dev")).join(name))
        })
    }

    fn path_in_view(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn folder(&self, path: &Path) -> io::Result<PathBuf> {
        let place = self.path_in_view(path);
        fs::create_dir_all(&place)?;
        Ok(place)
    }

    fn file(&self, path: &Path) -> io::Result<PathBuf> {
        self.folder(path.parent().unwrap_or(path))?;
        let place = self.path_in_view(path);
        if !place.exists() {
            File::create(&place)?;
        }
        Ok(place)
    }
}

/// Returns the target of a guarded link if this target is in the workspace. A link cannot be mounted, so its target is
/// guarded instead.
fn led_to(workspace: &Path, link: &Path) -> io::Result<Option<PathBuf>> {
    let Ok(target) = fs::canonicalize(link) else { return Ok(None) };
    if target == workspace {
        let why = "points to the workspace itself, which would become read-only: remove the link";
        return Err(io::Error::other(format!("`{}` {why}", link.display())));
    }
    // The folder of a repository is not made read-only: its guarded files are guarded one by one.
    let is_repository =
        link.file_name().is_some_and(|name| name.eq_ignore_ascii_case(".git")) && target.is_dir();
    Ok((target.starts_with(workspace) && !is_repository).then_some(target))
}

/// Makes one path of the host visible at another path (bind mount).
fn bind(path: &Path, place: &Path, usage: Use) -> io::Result<()> {
    mount(Some(path), place, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)?;
    match usage {
        Use::Read => {
            // If the kernel does not let this namespace change the flags of the mount, the mount keeps its flags.
            let _ = read_only(place, MsFlags::empty());
            Ok(())
        }
        Use::ReadOnly => read_only(place, MsFlags::empty()),
        Use::ReadOnlyNoExec => read_only(place, MsFlags::MS_NOEXEC),
        Use::Write => Ok(()),
    }
}

/// Makes a mount in the command's view of the file system read-only. The other flags of the mount are kept, because a
/// process in a user namespace is not allowed to remove them.
fn read_only(place: &Path, more: MsFlags) -> io::Result<()> {
    let has = statvfs(place)?.flags();
    let kept = [
        (FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
        (FsFlags::ST_NOATIME, MsFlags::MS_NOATIME),
        (FsFlags::ST_NODIRATIME, MsFlags::MS_NODIRATIME),
        (FsFlags::ST_RELATIME, MsFlags::MS_RELATIME),
    ];
    let kept = kept.into_iter().filter(|(flag, _)| has.contains(*flag)).map(|(_, flag)| flag);
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID | more;
    Ok(mount(NOTHING, place, NOTHING, kept.fold(flags, MsFlags::union), NOTHING)?)
}
