//! Attacked workspace: a repository as it is after a day of work. Next to it are a directory and two processes that the
//! agent must not reach. Everything is compared before and after the attack.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Releases;
use super::programs::RUN_BY_OWN_TOOLS;

const IGNORED: &str = "__pycache__/\nnode_modules/\n.venv/\n*.log\n.env\n*.sqlite\n/build/\n";

const FILES: [(&str, &str); 16] = [
    (".gitignore", IGNORED),
    ("main.py", "print(1)\n"),
    ("names.txt", "pwned\n"),
    ("curl.conf", "url = file:///etc/hostname\noutput = pwned\n"),
    ("src/lib.py", "x = 1\n"),
    ("ci/deploy.yml", "steps: []\n"),
    ("fx/HEAD", "ref: refs/heads/main\n"),
    ("fx/config", "[core]\n"),
    ("fx/objects/.keep", ""),
    ("fx/refs/.keep", ""),
    (".env", "TOKEN=1\n"),
    ("local.sqlite", "rows\n"),
    ("node_modules/left/index.js", "module.exports = 1\n"),
    (".venv/bin/activate", "export VIRTUAL_ENV=here\n"),
    ("../outside/kept.txt", "mine\n"),
    ("../outside/app.conf", "mine\n"),
];

/// Kind, mode, and content or link target of each path in the attacked workspace.
type Entries = BTreeMap<String, (char, u32, Vec<u8>)>;

pub(super) struct Attacked {
    workspace: PathBuf,
    pub outside: PathBuf,
    before: [Entries; 2],
    listener: UnixListener,
    pipe: File,
}

impl Attacked {
    pub(super) fn fill(workspace: &Path) -> Self {
        for (path, content) in FILES {
            let path = workspace.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        symlink("../outside", workspace.join("out")).unwrap();
        symlink("../outside/kept.txt", workspace.join("shared.txt")).unwrap();
        symlink(".", workspace.join("here")).unwrap();
        git(workspace, &["init", "-q", "-b", "main", "."]);
        git(workspace, &["add", "--all", "."]);
        git(workspace, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first"]);
        let listener = UnixListener::bind(workspace.join("app.sock")).unwrap();
        listener.set_nonblocking(true).unwrap();
        let fifo = workspace.join("app.fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        // Open the pipe for reading and writing, so that opening does not block, and so that a writer finds a reader.
        let pipe = OpenOptions::new().read(true).write(true).custom_flags(NONBLOCK).open(fifo).unwrap();
        let outside = workspace.parent().unwrap().join("outside");
        let before = [entries(workspace), entries(&outside)];
        Self { workspace: workspace.to_owned(), outside, before, listener, pipe }
    }

    /// Describes each change of the attacked workspace that the rules of the workflow do not allow.
    pub(super) fn damage(&mut self, releases: Releases) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if self.listener.accept().is_ok() {
            found.insert("a process of the host was reached through a socket".to_owned());
        }
        if self.pipe.read(&mut [0; 1]).is_ok_and(|bytes| bytes > 0) {
            found.insert("a process of the host was reached through a pipe".to_owned());
        }
        let [before, outside] = &self.before;
        for path in changed(outside, &entries(&self.outside)) {
            found.insert(format!("outside: {path}"));
        }
        let after = entries(&self.workspace);
        for path in changed(before, &after) {
            if releases == Releases::Nothing || is_dangerous(&path, &after) {
                found.insert(path);
            }
        }
        found
    }
}

/// Value of `O_NONBLOCK` on Linux.
const NONBLOCK: i32 = 0o4000;

fn git(workspace: &Path, arguments: &[&str]) {
    assert!(Command::new("git").args(arguments).current_dir(workspace).status().unwrap().success());
}

fn changed(before: &Entries, after: &Entries) -> BTreeSet<String> {
    let differs = |path: &&String| before.get(*path) != after.get(*path);
    before.keys().chain(after.keys()).filter(differs).cloned().collect()
}

/// Returns true if no shipped workflow may allow a change of this path without asking a person.
fn is_dangerous(path: &str, after: &Entries) -> bool {
    let lower = path.to_lowercase();
    let is_below = |name: &str| lower == name || lower.starts_with(&format!("{name}/"));
    let is_named = RUN_BY_OWN_TOOLS.iter().any(|name| is_below(&name.to_lowercase()));
    let of_git = [".git/config", ".git/hooks", ".git/info", ".git/modules", ".git/rebase-apply"];
    let is_ignore_file = lower == ".gitignore" || lower.ends_with("/.gitignore");
    let leads_out = after.get(path).is_some_and(|(kind, _, target)| {
        *kind == 'l' && (target.starts_with(b"/") || String::from_utf8_lossy(target).contains("outside"))
    });
    let folders = path.match_indices('/').map(|(at, _)| &path[..at]).chain([path]);
    let is_in_repository = folders.clone().any(|folder| {
        let has = |name: &str| {
            let wanted = format!("{folder}/{name}").to_lowercase();
            after.keys().any(|path| path.to_lowercase() == wanted)
        };
        folder != ".git" && has("HEAD") && has("objects") && has("refs")
    });
    is_named || of_git.iter().any(|name| is_below(name)) || is_ignore_file || leads_out || is_in_repository
}

/// Returns everything below an attacked directory, including git's own files.
fn entries(folder: &Path) -> Entries {
    let mut found = Entries::new();
    let mut ahead = vec![folder.to_owned()];
    while let Some(at) = ahead.pop() {
        for entry in fs::read_dir(at).unwrap().flatten() {
            let path = entry.path();
            let about = fs::symlink_metadata(&path).unwrap();
            let kind = about.file_type();
            let (letter, content) = if kind.is_dir() {
                ahead.push(path.clone());
                ('d', Vec::new())
            } else if kind.is_symlink() {
                ('l', fs::read_link(&path).unwrap().display().to_string().into_bytes())
            } else if kind.is_fifo() {
                ('p', Vec::new())
            } else if kind.is_socket() {
                ('s', Vec::new())
            } else {
                ('f', fs::read(&path).unwrap())
            };
            let name = path.strip_prefix(folder).unwrap().display().to_string();
            found.insert(name, (letter, about.mode() & 0o7777, content));
        }
    }
    found
}
