//! Finds lines for which a trial (a run in isolation) would show another result than a person's shell. Such a line
//! changes the shell, uses the network or a service of the machine, looks at other processes, or needs a terminal or
//! other permissions.
//!
//! This module compares only words. Missing such a line does no harm: the sandbox restricts the trial, which then only
//! shows less.

use crate::{Class, Command, Part, programs};

/// Commands built into the shell that influence later command lines. `set` has a rule of its own. `read` and `local`
/// are left out, because they set variables only for the rest of their line.
const STATE: [&str; 25] = [
    ".", "alias", "bg", "cd", "declare", "dirs", "disown", "enable", "eval", "exec", "export", "fg", "hash",
    "jobs", "popd", "pushd", "readonly", "shopt", "source", "trap", "typeset", "ulimit", "umask", "unalias",
    "unset",
];

/// Programs that list or stop other processes. In a trial, only the processes of the trial can be seen.
const PROCESSES: [&str; 15] = [
    "kill", "killall", "pkill", "pgrep", "pidof", "ps", "lsof", "fuser", "ss", "netstat", "nohup", "setsid",
    "renice", "strace", "ltrace",
];

/// Programs that send commands to a service of this machine.
const SERVICES: [&str; 16] = [
    "docker",
    "podman",
    "nerdctl",
    "kubectl",
    "helm",
    "minikube",
    "systemctl",
    "service",
    "journalctl",
    "launchctl",
    "crontab",
    "at",
    "batch",
    "mount",
    "umount",
    "screen",
];

/// Programs that run other programs with another user's permissions.
const RIGHTS: [&str; 5] = ["sudo", "su", "doas", "pkexec", "runuser"];

/// Programs that interact with a person at a terminal.
const TERMINAL: [&str; 17] = [
    "vi", "vim", "nvim", "nano", "emacs", "pico", "ed", "less", "more", "top", "htop", "tmux", "watch",
    "passwd", "chsh", "dialog", "whiptail",
];

impl Command {
    /// Returns the reason why a trial (a run in isolation) of the command line would show another result than a
    /// person's shell. The text completes a sentence such as "not tried: …".
    pub fn why_untriable(&self) -> Option<&'static str> {
        if self.parts.is_empty() {
            return Some("it runs no program, and may only change the shell");
        }
        if self.names_home {
            return Some("it names a home folder, which a trial does not show");
        }
        let mut parts = self.parts.iter().chain(&self.guesses);
        parts.find_map(Part::why_untriable).or_else(|| {
            let reaches_out = |class: &Class| matches!(class, Class::ReachesOut | Class::Installs);
            self.classes().iter().any(reaches_out).then_some("it may use the network, and a trial has none")
        })
    }
}

impl Part {
    fn why_untriable(&self) -> Option<&'static str> {
        let program = self.base();
        let is_in = |list: &[&str]| list.contains(&program);
        let sets = program == "set" && programs::changes_the_shell(program, &self.arguments);
        if is_in(&STATE) || sets {
            Some("it changes the shell in which later commands run")
        } else if is_in(&PROCESSES) {
            Some("it concerns other processes, which a trial does not see")
        } else if is_in(&SERVICES) {
            Some("it gives orders to a service of this machine, which a trial does not reach")
        } else if is_in(&RIGHTS) {
            Some("it needs the rights of another user")
        } else if is_in(&TERMINAL) {
            Some("it needs a terminal")
        } else {
            None
        }
    }
}
