//! Table of words and flags that indicate risk, with the topic and the level of each.

use crate::level::Level;

/// Topic of a group of risk words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Topic {
    Destructive,
    Production,
    Privilege,
    Network,
}

impl Topic {
    pub(super) const ALL: [Self; 4] = [Self::Destructive, Self::Production, Self::Privilege, Self::Network];

    /// Returns the code of the topic. Reasons contain this code, so it never changes.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Destructive => "destructive",
            Self::Production => "production",
            Self::Privilege => "privilege",
            Self::Network => "network",
        }
    }

    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Destructive => "the request mentions an action that cannot be undone",
            Self::Production => "the request mentions production",
            Self::Privilege => "the request mentions elevated rights",
            Self::Network => "the request mentions the network",
        }
    }

    /// Returns true if the reason code `code` already reports a risk of this topic.
    pub(super) fn is_said_by(self, code: &str) -> bool {
        let same: &[&str] = match self {
            Self::Destructive => &["destructive", "deletes_folders", "loses", "forced"],
            Self::Production => &["production"],
            Self::Privilege => &["privilege", "rights"],
            Self::Network => &["network"],
        };
        same.contains(&code)
    }
}

/// Way in which the risk words of a table row are compared with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchKind {
    /// The risk words match as whole words, also with other endings: `deletes`, `deletion`.
    Form,
    /// The risk words match only as exact phrases.
    Words,
    /// The risk words match as whole words, also if digits follow: `prod2`.
    Numbered,
    /// The risk words match as whole words, but only in command lines. In prose, these words have other meanings.
    InLine,
    /// The risk words match as options (`--force`, `-Force`, `--force=yes`), and as names of fields whose value is true
    /// (`force: true`).
    Flag,
}

pub(super) struct Row {
    pub(super) topic: Topic,
    pub(super) level: Level,
    pub(super) by: MatchKind,
    pub(super) words: &'static [&'static str],
}

const fn row(topic: Topic, level: Level, by: MatchKind, words: &'static [&'static str]) -> Row {
    Row { topic, level, by, words }
}

use Topic::{Destructive, Network, Privilege, Production};

pub(super) const TABLE: [Row; 12] = [
    row(
        Destructive,
        Level::High,
        MatchKind::Form,
        &["delete", "destroy", "purge", "wipe", "erase", "shred", "truncate", "overwrite"],
    ),
    row(
        Destructive,
        Level::High,
        MatchKind::Words,
        &[
            "rm",
            "rmdir",
            "rmtree",
            "unlink",
            "mkfs",
            "dropdb",
            "deltree",
            "wipefs",
            "irreversible",
            "irreversibly",
            "irrevocable",
            "irrevocably",
            "unrecoverable",
            "delete from",
            "hard reset",
            "force push",
            "force pushes",
            "remove item",
            "drop table",
            "drop tables",
            "drop database",
            "drop databases",
            "drop schema",
            "drop column",
            "drop index",
            "drop view",
            "drop user",
            "drop role",
            "drop collection",
            "drop keyspace",
        ],
    ),
    row(
        Destructive,
        Level::High,
        MatchKind::InLine,
        &["del", "rd", "kill", "killall", "pkill", "fdisk", "parted", "shutdown", "reboot"],
    ),
    row(
        Destructive,
        Level::High,
        MatchKind::Flag,
        &[
            "force",
            "force-with-lease",
            "force-delete",
            "force-yes",
            "hard",
            "purge",
            "prune",
            "delete",
            "delete-all",
            "overwrite",
            "cascade",
            "permanent",
            "permanently",
            "discard-changes",
            "no-preserve-root",
            "no-verify",
        ],
    ),
    row(Production, Level::High, MatchKind::Numbered, &["prod", "production", "prd"]),
    row(
        Privilege,
        Level::High,
        MatchKind::Words,
        &[
            "sudo",
            "doas",
            "pkexec",
            "runas",
            "sudoers",
            "visudo",
            "setuid",
            "setcap",
            "chmod",
            "chown",
            "chgrp",
            "setfacl",
            "usermod",
            "useradd",
            "as root",
            "user root",
            "root access",
            "root rights",
            "root privileges",
            "as administrator",
            "admin rights",
            "admin access",
            "administrator rights",
            "superuser",
            "grant all",
            "alter role",
            "alter user",
        ],
    ),
    row(Privilege, Level::High, MatchKind::InLine, &["su", "passwd", "root"]),
    row(
        Privilege,
        Level::High,
        MatchKind::Flag,
        &["privileged", "cap-add", "as-root", "allow-root", "sudo", "setuid", "admin", "is-admin"],
    ),
    row(
        Network,
        Level::High,
        MatchKind::Words,
        &["curl", "wget", "ssh", "scp", "sftp", "rsync", "netcat", "ncat", "telnet", "ngrok"],
    ),
    row(Network, Level::High, MatchKind::InLine, &["nc", "ftp", "http", "https", "socat"]),
    row(Network, Level::High, MatchKind::Form, &["upload", "exfiltrate"]),
    row(Network, Level::High, MatchKind::Flag, &["publish", "upload"]),
];
