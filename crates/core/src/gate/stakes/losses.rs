//! Commands that lose data: a table of programs, of the arguments that cause a loss, and of the options that cause or
//! prevent it.
//!
//! If a row matches a command, a person should examine the command closely. If no row matches, the command is not
//! automatically allowed.

use super::{base, short};
use holdshort_command::Part;

/// One way in which a command loses data.
pub(super) struct Loss {
    programs: &'static [&'static str],
    /// Arguments that a command must all have to match this row. If the parser knows the subcommand, the subcommand
    /// must contain the first of these arguments.
    words: &'static [&'static str],
    /// Long options. If the list is not empty, a command must have at least one of these options to match this row.
    options: &'static [&'static str],
    /// Short forms of the long options in `options`, one letter each.
    letters: &'static str,
    /// Options with which the command loses no data, so that this row does not match.
    unless: &'static [&'static str],
}

const fn loss(programs: &'static [&'static str], words: &'static [&'static str]) -> Loss {
    Loss { programs, words, options: &[], letters: "", unless: &[] }
}

impl Loss {
    const fn with(self, options: &'static [&'static str], letters: &'static str) -> Self {
        Self { options, letters, ..self }
    }

    const fn unless(self, unless: &'static [&'static str]) -> Self {
        Self { unless, ..self }
    }

    fn matches(&self, part: &Part) -> bool {
        let has = |word: &str| part.arguments.iter().any(|argument| argument == word);
        let subcommand = part.subcommand();
        let is_called =
            |word: &&str| subcommand.as_deref().is_none_or(|all| all.split(' ').any(|each| each == *word));
        let needs_option = !self.options.is_empty() || !self.letters.is_empty();
        self.programs.contains(&base(&part.program))
            && self.words.first().is_none_or(is_called)
            && self.words.iter().all(|word| has(word))
            && (!needs_option
                || part.arguments.iter().any(|argument| {
                    self.options.contains(&argument.as_str()) || short(argument, self.letters)
                }))
            && !self.unless.iter().any(|option| has(option))
    }
}

/// Commands that delete folders together with their content.
pub(super) const FOLDERS: &[Loss] = &[
    loss(&["rm"], &[]).with(&["--recursive"], "rR"),
    loss(&["find"], &["-delete"]),
    loss(&["fd"], &["--exec=rm"]),
    loss(&["git"], &["clean"]),
    loss(&["git"], &["rm"]).with(&[], "r").unless(&["--cached"]),
    loss(&["rsync"], &[])
        .with(&["--delete", "--delete-before", "--delete-after", "--delete-during", "--delete-excluded"], ""),
    loss(&["rimraf", "srm"], &[]),
];

/// Commands that delete or overwrite data for which no copy exists.
pub(super) const FOR_GOOD: &[Loss] = &[
    loss(&["shred", "wipefs", "mkfs", "dropdb", "truncate"], &[]),
    loss(&["git"], &["restore"]).unless(&["--staged", "-S"]),
    loss(&["git"], &["restore"]).with(&["--worktree"], "W"),
    loss(&["git"], &["stash", "drop"]),
    loss(&["git"], &["stash", "clear"]),
    loss(&["git"], &["reflog", "expire"]),
    loss(&["git"], &["reflog", "delete"]),
    loss(&["git"], &["gc"]).with(&["--prune=now", "--prune=all"], ""),
    loss(&["git"], &["prune"]),
    loss(&["git"], &["filter-branch"]),
    loss(&["git"], &["update-ref"]).with(&["--delete"], "d"),
    loss(CONTAINERS, &["prune"]),
    loss(CONTAINERS, &["down"]).with(&["--volumes"], "v"),
    loss(CONTAINERS, &["volume", "rm"]),
    loss(CONTAINERS, &["volume", "remove"]),
    loss(&["npm"], &["unpublish"]),
    loss(&["crontab"], &[]).with(&[], "r"),
];

const CONTAINERS: &[&str] = &["docker", "podman", "docker-compose", "podman-compose"];

/// Programs that manage remote systems or storage. The data that they delete is not in a local folder.
const MANAGING: [&str; 29] = [
    "aws",
    "az",
    "btrfs",
    "doctl",
    "eksctl",
    "firebase",
    "flux",
    "fly",
    "flyctl",
    "gcloud",
    "gh",
    "glab",
    "gsutil",
    "helm",
    "heroku",
    "kubectl",
    "mc",
    "oc",
    "pulumi",
    "rclone",
    "redis-cli",
    "s3cmd",
    "supabase",
    "terraform",
    "tofu",
    "vercel",
    "wrangler",
    "zfs",
    "zpool",
];

/// Words in subcommands with which programs for remote systems delete data: `delete-bucket`, `apps:destroy`.
const DELETING: [&str; 10] =
    ["del", "delete", "destroy", "flushall", "flushdb", "purge", "rb", "rm", "terminate", "uninstall"];

/// Returns true if the program manages remote systems or storage, and its subcommand deletes something.
pub(super) fn deletes_elsewhere(part: &Part) -> bool {
    let said = |word: &String| {
        let word = word.trim_start_matches('-').to_lowercase();
        // A word with a path or an address is the object to delete, not a subcommand.
        let mut pieces = word.split(['-', ':', '_']);
        !word.contains('/') && pieces.any(|piece| DELETING.contains(&piece))
    };
    MANAGING.contains(&base(&part.program)) && part.arguments.iter().any(said)
}

/// Returns true if the command is a `git checkout` that overwrites files with a committed version. The uncommitted
/// changes of these files are then lost.
pub(super) fn takes_files_back(part: &Part) -> bool {
    let subcommand = part.subcommand();
    if base(&part.program) != "git" || subcommand.is_some_and(|sub| sub != "checkout") {
        return false;
    }
    let Some(at) = part.arguments.iter().position(|word| word == "checkout") else { return false };
    let words = &part.arguments[at + 1..];
    let is_file = |word: &String| {
        matches!(word.as_str(), "--" | "." | ".." | ":" | "--ours" | "--theirs")
            || ["./", "../", ":/", ":(", "--pathspec-from-file"].iter().any(|start| word.starts_with(start))
            || word.contains(['*', '?', '['])
    };
    let makes_a_branch =
        words.iter().any(|word| matches!(word.as_str(), "-b" | "-B" | "--orphan" | "-t" | "--track"));
    // The command has the form `git checkout COMMIT FILE`.
    let operands = words.iter().filter(|word| !word.starts_with('-')).count();
    words.iter().any(is_file) || (operands > 1 && !makes_a_branch)
}

/// Returns true if `dd` overwrites a file or a disk.
pub(super) fn overwrites_blocks(part: &Part) -> bool {
    base(&part.program) == "dd" && part.arguments.iter().any(|word| word.starts_with("of="))
}

/// Commands that change file permissions recursively.
pub(super) const RIGHTS: &[Loss] =
    &[loss(&["chmod", "chown", "chgrp", "setfacl", "chattr", "chcon"], &[]).with(&["--recursive"], "R")];

pub(super) fn any(rows: &[Loss], part: &Part) -> bool {
    rows.iter().any(|row| row.matches(part))
}

/// Returns true if `chmod` lets all users write to a file, or sets setuid or setgid.
pub(super) fn opens_to_anybody(part: &Part) -> bool {
    let opens = |mode: &str| match u32::from_str_radix(mode, 8) {
        Ok(bits) => bits & 0o6002 != 0,
        Err(_) => mode.split(',').any(|clause| {
            let (who, given) = clause.split_once(['+', '=']).unwrap_or_default();
            given.contains('s') || (given.contains('w') && who.contains(['o', 'a']))
        }),
    };
    let mut words = part.arguments.iter().filter(|word| !word.starts_with('-'));
    base(&part.program) == "chmod" && words.next().is_some_and(|mode| opens(mode))
}

/// Returns true if `git clean` only lists files and deletes none.
pub(super) fn only_shows(part: &Part) -> bool {
    let options = || part.arguments.iter().filter(|word| word.starts_with('-'));
    let is_dry = |word: &String| word == "--dry-run" || short(word, "n");
    // An option with a value, or a file name after `--`, may look like the option of a dry run.
    let is_known = |word: &String| {
        word == "--dry-run"
            || word
                .strip_prefix('-')
                .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|letter| "ndxXq".contains(letter)))
    };
    base(&part.program) == "git"
        && part.subcommand().as_deref() == Some("clean")
        && options().any(is_dry)
        && options().all(is_known)
}
