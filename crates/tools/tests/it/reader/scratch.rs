//! A workspace with hostile file names, and the effects of a command line in it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use tempfile::TempDir;

use super::{Line, trace};

/// File names that are options or code, to which a pattern in a command line may expand.
const HOSTILE: [&str; 12] = [
    "-oW",
    "--output=W",
    "-delete",
    "-i",
    "--ext-diff",
    "-exec",
    "a[$(touch W)]",
    "a;touch W",
    "-O.git",
    "$(touch W)",
    "-v",
    "-fW",
];

/// Maximum number of seconds that one command line may run, since some lines never end.
const TIME: &str = "2";

/// File type, mode and content of each path in a workspace.
type Tree = BTreeMap<PathBuf, (u32, Vec<u8>)>;

pub(super) struct Scratch {
    folder: TempDir,
    before: Tree,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().expect("a folder");
        let workspace = folder.path().join("ws");
        for name in ["src", "sub", "bare.git"] {
            fs::create_dir_all(workspace.join(name)).expect("a folder");
        }
        fs::create_dir(folder.path().join("home")).expect("a folder");
        let put = |name: &str, text: &str| fs::write(workspace.join(name), text).expect("a file");
        for (name, text) in
            [("f", "touch W\nb\na\n"), ("g", "b\nc\n"), ("src/a", "1\n2\n"), ("src/b", "x y\n")]
        {
            put(name, text);
        }
        for name in HOSTILE {
            put(name, "touch W\n");
        }
        put("run", "#!/bin/sh\ntouch W\n");
        fs::set_permissions(workspace.join("run"), fs::Permissions::from_mode(0o755)).expect("a mode");
        symlink("src", workspace.join("link")).expect("a link");
        let run = |line: &str| {
            let mut shell = Process::new("sh");
            shell.arg("-c").arg(line).current_dir(&workspace).env_clear();
            shell.env("PATH", PATH).env("HOME", folder.path().join("home"));
            shell.stdout(Stdio::null()).stderr(Stdio::null()).status().expect("a shell").success()
        };
        let commit = "git init -q -b main . && git add f g src && \
                      git -c user.name=a -c user.email=a@b commit -qm x && echo more >> f && git tag v1 && git branch topic";
        assert!(run(commit), "a repository");
        assert!(run("tar cf arch.tar f g && tar czf arch.tar.gz f g"), "an archive");
        // A repository in a subfolder, with a configuration that runs a program in that subfolder.
        assert!(run("git init -q --bare sub && git init -q --bare bare.git"), "bare repositories");
        assert!(run(
            "for r in sub bare.git; do git -C $r config core.fsmonitor 'touch W'; git -C $r config core.pager ./run; done"
        ));
        let traces = Process::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).status();
        assert!(traces.is_ok_and(|status| status.success()), "`strace` has to work: apt-get install strace");
        let before = tree(&workspace);
        Self { folder, before }
    }

    /// Returns the forbidden effects of each command line. Runs all lines in one workspace first, which is fast. If a
    /// line has such an effect, runs each line again, alone in an unchanged workspace.
    pub(super) fn play(&self, shell: &str, lines: &[Line]) -> Vec<String> {
        let quiet = |lines: &[Line]| {
            let trace = self.run(shell, lines);
            let changed = self.changed();
            changed.or_else(|| trace::foreign(&trace, shell, lines))
        };
        if quiet(lines).is_none() {
            return Vec::new();
        }
        lines
            .iter()
            .filter_map(|line| {
                let did = quiet(std::slice::from_ref(line))?;
                Some(format!("{shell}: {:?}: {did}", line.text))
            })
            .collect()
    }

    /// Runs command lines in a shell, and returns the trace of the programs that were started.
    fn run(&self, shell: &str, lines: &[Line]) -> String {
        let trace = self.folder.path().join("trace");
        let mut process = Process::new("strace");
        process.args(["-f", "--seccomp-bpf", "-qq", "-s", "256", "-e", "trace=execve,execveat", "-o"]);
        process.arg(&trace);
        // A background process of a line may never end. Such a process is killed together with the process group that
        // `timeout` leads.
        let each = format!(
            "for line do timeout {} {TIME} {shell} -c \"$line\" & wait $!; kill -KILL -$!; done",
            trace::EACH
        );
        process.args(["sh", "-c", &each, "sh"]).args(lines.iter().map(|line| &line.text));
        process.current_dir(self.folder.path().join("ws")).env_clear();
        process.env("PATH", PATH).env("HOME", self.folder.path().join("home")).env("LANG", "C.UTF-8");
        // The sandbox sets these variables too.
        process.envs([
            ("GIT_CONFIG_COUNT", "2"),
            ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
            ("GIT_CONFIG_VALUE_0", "explicit"),
            ("GIT_CONFIG_KEY_1", "core.fsmonitor"),
            ("GIT_CONFIG_VALUE_1", "false"),
        ]);
        process
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("a shell starts");
        fs::read_to_string(&trace).expect("a trace")
    }

    /// Returns a description of the changes in the workspace, and restores the workspace. Returns `None` if nothing
    /// changed.
    fn changed(&self) -> Option<String> {
        let workspace = self.folder.path().join("ws");
        let after = tree(&workspace);
        if after == self.before {
            return None;
        }
        let names = |from: &Tree, to: &Tree| -> Vec<PathBuf> {
            from.iter()
                .filter(|(name, file)| to.get(*name) != Some(file))
                .map(|(name, _)| name.clone())
                .collect()
        };
        let (new, gone) = (names(&after, &self.before), names(&self.before, &after));
        for name in new.iter().filter(|name| !self.before.contains_key(*name)) {
            let path = workspace.join(name);
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
        for (name, (mode, bytes)) in gone.iter().filter_map(|name| Some((name, self.before.get(name)?))) {
            if *mode & 0o170_000 == 0o100_000 {
                let _ = fs::write(workspace.join(name), bytes);
            }
        }
        Some(format!("changed {new:?}, from {gone:?}"))
    }
}

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns true for Git's cache of file timestamps, which Git writes even while it only reads.
fn is_a_cache(name: &Path) -> bool {
    name == Path::new(".git/index")
}

fn tree(workspace: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(workspace.join(&folder)) else { continue };
        for entry in entries.flatten() {
            let name = folder.join(entry.file_name());
            let Ok(found) = fs::symlink_metadata(entry.path()) else { continue };
            let bytes = if found.is_file() && !is_a_cache(&name) {
                fs::read(entry.path()).unwrap_or_default()
            } else {
                Vec::new()
            };
            tree.insert(name.clone(), (std::os::unix::fs::MetadataExt::mode(&found), bytes));
            if found.is_dir() {
                folders.push(name);
            }
        }
    }
    tree
}
