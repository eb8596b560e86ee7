//! Risk of commands, independent of the gates: deletion of folders, irreversible losses, permissions of folders,
//! options that force, production, deployment. A match is only a reason to look more closely: the command then has
//! *high* risk, and its card offers no grant. The absence of a match does not allow a command.
//!
//! `losses` is the table of irreversible effects.

mod losses;

use super::{Reason, Source};
use crate::changeset::Changeset;
use holdshort_command::Part;

struct Stake {
    code: &'static str,
    text: &'static str,
    holds: fn(&Part) -> bool,
}

/// Returns the reason that makes known changes risky, whatever the gates allow: deletions.
pub(crate) fn of_deletions(changes: &Changeset) -> Vec<Reason> {
    let text = match changes.deletions().count() {
        0 => return Vec::new(),
        1 => "it deletes a file".to_owned(),
        n => format!("it deletes {n} files"),
    };
    vec![Reason { source: Source::Inspection, code: "deletes".to_owned(), rule: None, text }]
}

const TABLE: [Stake; 7] = [
    Stake { code: "deletes_folders", text: "it deletes directories with all their contents", holds: deletes },
    Stake { code: "loses", text: "it deletes or overwrites data that cannot be restored", holds: loses },
    Stake {
        code: "rights",
        text: "it changes the permissions of whole directories",
        holds: |part| losses::any(losses::RIGHTS, part),
    },
    Stake {
        code: "rights",
        text: "it makes a file writable for everyone, or lets a program run with the rights of its owner",
        holds: |part| losses::opens_to_anybody(part) && !losses::any(losses::RIGHTS, part),
    },
    Stake { code: "forced", text: "an option disables a safety check of the command", holds: forces },
    Stake { code: "production", text: "it mentions production", holds: names_production },
    Stake { code: "deploys", text: "it deploys, publishes or pushes", holds: deploys },
];

/// Options with which any program forces its action.
const FORCING: [&str; 7] = [
    "--force",
    "--force-with-lease",
    "--hard",
    "--no-verify",
    "--no-preserve-root",
    "--force-yes",
    "--discard-changes",
];

/// Short options that force an action, by program and subcommand. For other programs, `-f` names a file or suppresses a
/// question.
const FORCING_SHORT: [(&str, &str, char); 10] = [
    ("cp", "", 'f'),
    ("mv", "", 'f'),
    ("git", "push", 'f'),
    ("git", "checkout", 'f'),
    ("git", "switch", 'f'),
    ("git", "branch", 'D'),
    ("git", "tag", 'f'),
    ("docker", "rm", 'f'),
    ("docker", "rmi", 'f'),
    ("podman", "rm", 'f'),
];

/// Words that stand for the production environment.
const PRODUCTION: [&str; 2] = ["production", "prod"];

/// Words that mean deployment, in the name of a program, a script, a target or a subcommand.
const DEPLOYING: [&str; 7] = ["deploy", "publish", "release", "rollout", "promote", "upload", "push"];

/// Programs whose subcommand `apply` changes remote systems.
const APPLYING: [&str; 5] = ["kubectl", "terraform", "tofu", "pulumi", "helm"];

/// Returns the risks of a command, including the risks of programs that it may run. Empty if nothing matches.
pub(crate) fn find_risks(line: &str) -> Vec<Reason> {
    let command = holdshort_command::parse(line);
    let parts: Vec<&Part> =
        command.parts.iter().chain(&command.guesses).filter(|part| !part.is_read_only()).collect();
    let found = TABLE.iter().filter(|stake| parts.iter().any(|part| (stake.holds)(part)));
    found.map(reason).collect()
}

fn reason(stake: &Stake) -> Reason {
    let (code, text) = (stake.code.to_owned(), stake.text.to_owned());
    Reason { source: Source::Inspection, code, rule: None, text }
}

fn deletes(part: &Part) -> bool {
    losses::any(losses::FOLDERS, part) && !losses::only_shows(part)
}

fn loses(part: &Part) -> bool {
    // Also matches programs such as `mkfs.ext4`.
    let makes_file_system = base(&part.program).starts_with("mkfs.");
    losses::any(losses::FOR_GOOD, part)
        || makes_file_system
        || losses::deletes_elsewhere(part)
        || losses::takes_files_back(part)
        || losses::overwrites_blocks(part)
}

fn forces(part: &Part) -> bool {
    let long = |word: &String| FORCING.contains(&word.split('=').next().unwrap_or_default());
    let subcommand = part.subcommand();
    let letters: String = FORCING_SHORT
        .iter()
        .filter(|(program, sub, _)| {
            *program == part.program && (sub.is_empty() || subcommand.as_deref() == Some(sub))
        })
        .map(|(_, _, letter)| letter)
        .collect();
    part.arguments.iter().any(|word| long(word) || short(word, &letters))
}

fn names_production(part: &Part) -> bool {
    let said = std::iter::once(&part.program).chain(&part.arguments);
    said.flat_map(|word| pieces(word)).any(|piece| PRODUCTION.contains(&piece.as_str()))
}

/// Only the last name of a path is compared: `target/release/app` does not mean a release.
fn deploys(part: &Part) -> bool {
    let named = |word: &str| pieces(base(word)).iter().any(|piece| is_deploying(piece));
    let words = part.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let applies = |word: &str| word == "apply" && APPLYING.contains(&base(&part.program));
    std::iter::once(part.program.as_str()).chain(words).any(|word| named(word) || applies(word))
}

/// Returns true for a word of `DEPLOYING` and its other forms: `deploys`, `deployment`, `releases`.
fn is_deploying(piece: &str) -> bool {
    DEPLOYING.iter().any(|word| {
        piece
            .strip_prefix(word)
            .is_some_and(|rest| matches!(rest, "" | "s" | "es" | "er" | "ing" | "ment" | "ments"))
    })
}

/// Returns true if the word is a bundle of short options that contains one of these letters.
fn short(word: &str, letters: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| !rest.starts_with('-') && rest.contains(|c| letters.contains(c)))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Splits a word into pieces: `--env=production-eu` into `env`, `production`, `eu`.
fn pieces(word: &str) -> Vec<String> {
    let split = word.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty());
    split.map(str::to_lowercase).collect()
}
