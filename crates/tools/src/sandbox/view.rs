//! The command's own view of the file system: an empty root with the folders it may use at their usual places.
//!
//! Second line behind Landlock for files, first line for what Landlock does not cover: sockets with a name,
//! such as that of a container service, are not there. Never changes a mount of the host.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use nix::mount::{MntFlags, MsFlags, mount, umount2};
use nix::unistd::{chdir, pivot_root};

use super::folders;
use super::landlock::{DEVICES, SHARED_MEMORY};
use super::plan::Plan;

const NOTHING: Option<&str> = None;
const ROOT_OPTIONS: &str = "size=4m,mode=0755";
const SHARED_MEMORY_OPTIONS: &str = "size=256m,mode=1777";

/// Builds the view and enters it. This process must have mount and process namespaces of its own.
pub(super) fn enter(plan: &Plan) -> io::Result<()> {
    // What happens here stays here.
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
    // After the private folder, which may stand above them; a folder before what it contains.
    let mut shown: Vec<_> = plan.tool_folders.iter().map(|folder| (folder.as_path(), Use::Read)).collect();
    shown.push((&plan.workspace, Use::Write));
    let resolver = folders::resolver(plan);
    shown.extend(resolver.iter().map(|file| (file.as_path(), Use::Read)));
    shown.sort();
    for (path, usage) in shown {
        view.show(path, usage)?;
    }

    chdir(&view.root)?;
    pivot_root(".", ".")?;
    umount2(".", MntFlags::MNT_DETACH)?;
    chdir("/")?;
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Read,
    Write,
}

struct View {
    root: PathBuf,
}

impl View {
    /// Shows a path of the host at the same place. A link is copied; what is not there is left out.
    fn show(&self, path: &Path, usage: Use) -> io::Result<()> {
        let Ok(metadata) = fs::symlink_metadata(path) else { return Ok(()) };
        if metadata.is_symlink() {
            let place = self.place(path);
            self.folder(path.parent().unwrap_or(path))?;
            return match symlink(fs::read_link(path)?, place) {
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                made => made,
            };
        }
        let place = if metadata.is_dir() { self.folder(path)? } else { self.file(path)? };
        bind(path, &place, usage)
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
            symlink(format!("/proc/self/fd{descriptor}"), self.place(Path::new("/dev")).join(name))
        })
    }

    fn place(&self, path: &Path) -> PathBuf {
        self.root.join(path.strip_prefix("/").unwrap_or(path))
    }

    fn folder(&self, path: &Path) -> io::Result<PathBuf> {
        let place = self.place(path);
        fs::create_dir_all(&place)?;
        Ok(place)
    }

    fn file(&self, path: &Path) -> io::Result<PathBuf> {
        self.folder(path.parent().unwrap_or(path))?;
        let place = self.place(path);
        if !place.exists() {
            File::create(&place)?;
        }
        Ok(place)
    }
}

/// Shows one path at another. That it is read-only is Landlock's business first; where the kernel does not
/// let this namespace change the flags of a mount, it stays so.
fn bind(path: &Path, place: &Path, usage: Use) -> io::Result<()> {
    mount(Some(path), place, NOTHING, MsFlags::MS_BIND | MsFlags::MS_REC, NOTHING)?;
    if usage == Use::Read {
        let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY | MsFlags::MS_NOSUID;
        let _ = mount(NOTHING, place, NOTHING, flags, NOTHING);
    }
    Ok(())
}
