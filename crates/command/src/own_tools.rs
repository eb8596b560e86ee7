//! Finds lines that may write a file that the user's own tools execute. Either the file has a name in
//! [`crate::guarded`], or a git command writes it.
//!
//! Reading these files is not restricted.

use crate::guarded::{self, BELOW_GIT, Guarded};
use crate::working_directory::{join, normal};
use crate::{Command, Part, Pattern};

const fn git(name: &'static str, why: &'static str) -> Guarded {
    guarded::guarded(name, why)
}

/// Subcommands of git that write configuration or hooks, or fetch a repository that has its own configuration.
const GIT: [Guarded; 22] = [
    git("config", "it sets which programs other git commands run"),
    git("init", "it creates a repository with its own configuration and hooks"),
    git("clone", "it adds a repository with its own configuration"),
    git("worktree", "it writes pointers that tell git where its configuration is"),
    git("submodule", "it adds repositories and their configuration"),
    git("remote", "it sets where git fetches from and pushes to"),
    git("hook", "it runs hooks"),
    git("filter-branch", "it runs the given command on every commit"),
    git("sparse-checkout", "it writes configuration"),
    git("maintenance", "it writes configuration, and schedules git to start by itself"),
    git("lfs", "it writes hooks and filters into the configuration"),
    git("credential", "it calls the programs that store passwords"),
    git("credential-store", "it writes passwords to a file"),
    git("update-index", "it can make git ignore changes"),
    git("replace", "it makes git read replacement objects instead of the stored ones"),
    git("replay", "it moves references"),
    git("scalar", "it writes configuration"),
    git("daemon", "it makes the repository available to others"),
    git("instaweb", "it makes the repository available to others"),
    git("svn", "it writes configuration"),
    git("p4", "it writes configuration"),
    git("flow", "it writes configuration"),
];

impl Command {
    /// Returns the guarded name of a file that the command line may write, or `None`. `cwd` is the working directory,
    /// relative to the workspace or absolute. After a change to a folder with a known path, this folder applies to the
    /// rest of the command line.
    pub fn own_tools(&self, cwd: &str) -> Option<Guarded> {
        self.parts.iter().chain(&self.guesses).find_map(|part| part.own_tools(cwd))
    }
}

impl Command {
    /// Returns the folders in which parts of the command line may write files. An unknown folder is replaced by `cwd`.
    pub fn writes_from(&self, cwd: &str) -> impl Iterator<Item = String> {
        let parts = self.parts.iter().chain(&self.guesses).filter(|part| !part.is_read_only());
        parts.flat_map(move |part| {
            let nobody_knows = part.folders.is_empty().then(|| cwd.to_owned());
            let known = part.folders.iter().map(move |folder| normal(&join(cwd, folder)));
            known.chain(nobody_knows)
        })
    }
}

impl Part {
    fn own_tools(&self, cwd: &str) -> Option<Guarded> {
        if self.is_read_only() {
            return None;
        }
        let configures = || {
            let sub = self.subcommand().filter(|_| self.program == "git")?;
            let name = sub.split(' ').next().unwrap_or_default();
            GIT.into_iter().find(|git| git.name == name)
        };
        configures().or_else(|| self.texts().find_map(|(text, expands)| self.meets(text, expands, cwd)))
    }

    fn meets(&self, text: &str, expands: bool, cwd: &str) -> Option<Guarded> {
        let beneath = |path: &str| {
            let names = || path.split('/');
            let below_git = || names().any(|name| name.eq_ignore_ascii_case(".git")).then_some(BELOW_GIT);
            guarded::guards(names()).copied().or_else(below_git)
        };
        if expands {
            // The result of a file pattern is unknown. Therefore the pattern is compared with every guarded name to
            // which it may expand.
            return guarded::all().iter().find(|guarded| may_become(text, guarded)).copied();
        }
        let folders = if self.folders.is_empty() { &[String::new()][..] } else { &self.folders };
        folders.iter().find_map(|folder| beneath(&normal(&join(cwd, &join(folder, text)))))
    }
}

/// Returns true if a file pattern such as `.gi*` or `.[e]nvrc` may expand to the first component of a guarded name.
/// Only patterns with a leading dot are checked: other patterns match no hidden file, and few guarded names have no
/// leading dot. Guarded names that match nearly all hidden names (`.*/hooks`) are left out, because the changed files
/// are checked again when the call is inspected.
fn may_become(text: &str, guarded: &Guarded) -> bool {
    let first = guarded.name.split('/').next().unwrap_or_default();
    if !first.starts_with('.') || first.starts_with(".*") {
        return false;
    }
    let wanted = Pattern::of_word(first);
    text.split('/').any(|name| {
        let pattern = Pattern::of_shell(name).in_small_letters();
        pattern.meets(&wanted)
    })
}
