//! The class of a command: the gravest of what its parts do, from reading to installing software.

use crate::programs::is_interpreter;
use crate::{Command, Part};

const WEB: [&str; 11] =
    ["curl", "wget", "ssh", "scp", "sftp", "rsync", "nc", "ncat", "telnet", "ftp", "xdg-open"];

/// Subcommands of git that do.
const GIT_REACHES_OUT: [&str; 5] = ["push", "pull", "fetch", "clone", "ls-remote"];

/// Programs that install whatever they are asked.
const ALWAYS_INSTALL: [&str; 11] =
    ["dpkg", "rpm", "dnf", "yum", "pacman", "apk", "snap", "npx", "bunx", "uvx", "pipx"];

/// Programs that install when their subcommand is one of `INSTALLS`, or any of their words is `install`.
const MAY_INSTALL: [&str; 16] = [
    "pip", "pip3", "uv", "npm", "pnpm", "yarn", "bun", "apt", "apt-get", "cargo", "gem", "go", "brew",
    "poetry", "rustup", "conda",
];
const INSTALLS: [&str; 9] = ["install", "add", "i", "ci", "upgrade", "update", "sync", "get", "toolchain"];

/// The gravest thing that a command is known to do, from the least to the most grave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It changes nothing.
    Reads,
    /// It runs a program that is none of the others.
    Runs,
    /// It runs code: an interpreter, a file named by its path, or what nobody can tell.
    RunsCode,
    /// It reaches out over the network.
    ReachesOut,
    /// It installs software.
    Installs,
}

impl Command {
    /// The gravest among its parts; an opaque command may do anything, and counts as code.
    pub fn class(&self) -> Class {
        match self.opaque {
            Some(_) => Class::RunsCode,
            None => self.parts.iter().map(Part::class).max().unwrap_or(Class::RunsCode),
        }
    }
}

impl Part {
    fn class(&self) -> Class {
        if self.is_read_only() {
            return Class::Reads;
        }
        let sub = self.subcommand();
        let sub = sub.as_deref().unwrap_or_default();
        let program = self.program.as_str();
        let installs = ALWAYS_INSTALL.contains(&program)
            || sub == "-m pip install"
            || MAY_INSTALL.contains(&program)
                && (sub.split(' ').next().is_some_and(|first| INSTALLS.contains(&first))
                    || self.arguments.iter().any(|word| word == "install"));
        let reaches_out = WEB.contains(&program) || (program == "git" && GIT_REACHES_OUT.contains(&sub));
        if installs {
            Class::Installs
        } else if reaches_out {
            Class::ReachesOut
        } else if is_interpreter(program) || program.contains('/') {
            Class::RunsCode
        } else {
            Class::Runs
        }
    }
}
