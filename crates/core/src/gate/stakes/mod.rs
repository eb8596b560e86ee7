//! Risks of commands: deletion of folders, irreversible losses, permissions of folders, options that force an action,
//! production, deployment. The risks do not depend on the gates. If a risk is found, the command has *high* risk, its
//! card offers no grant, and a person should examine it closely. If no risk is found, the command is not automatically
//! allowed.
//!
//! The module `losses` has the table of irreversible losses.

mod losses;

use super::{Reason, Source};
use crate::changeset::Changeset;
use holdshort_command::Part;

struct Stake {
    code: &'static str,
    text: &'static str,
    holds: fn(&Part) -> bool,
}

/// Returns a reason if the changes delete files. Such changes are risky even if the gates allow them.
pub(crate) fn of_deletions(changes: &Changeset) -> Vec<Reason> {
    let text = match changes.deletions().count() {
        0 => return Vec::new(),
        1 => "the call deletes a file".to_owned(),
        n => format!("the call deletes {n} files"),
    };
    vec![Reason { source: Source::Inspection, code: "deletes".to_owned(), rule: None, text }]
}

const TABLE: [Stake; 7] = [
    Stake {
        code: "deletes_folders",
        text: "the command deletes directories with all their contents",
        holds: deletes,
    },
    Stake {
        code: "loses",
        text: "the command deletes or overwrites data that cannot be restored",
        holds: loses,
    },
    Stake {
        code: "rights",
        text: "the command changes the permissions of whole directories",
        holds: |part| losses::any(losses::RIGHTS, part),
    },
    Stake {
        code: "rights",
        text: "the command makes a file writable for everyone, or lets a program run with the rights of its owner",
        holds: |part| losses::opens_to_anybody(part) && !losses::any(losses::RIGHTS, part),
    },
    Stake { code: "forced", text: "an option disables a safety check of the command", holds: forces },
    Stake { code: "production", text: "the command mentions production", holds: names_production },
    Stake { code: "deploys", text: "the command deploys, publishes or pushes", holds: deploys },
];

/// Options that force an action, in any program.
const FORCING: [&str; 7] = [
    "--force",
    "--force-with-lease",
    "--hard",
    "--no-verify",
    "--no-preserve-root",
    "--force-yes",
    "--discard-changes",
];

/// Short options that force an action, by program and subcommand. Only listed programs are examined: in other programs,
/// `-f` may name a file or suppress a question.
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

const PRODUCTION: [&str; 2] = ["production", "prod"];

/// Words that mean deployment if they are in the name of a program, a script, a target or a subcommand.
const DEPLOYING: [&str; 7] = ["deploy", "publish", "release", "rollout", "promote", "upload", "push"];

/// Programs whose subcommand `apply` changes remote systems.
const APPLYING: [&str; 5] = ["kubectl", "terraform", "tofu", "pulumi", "helm"];

/// Returns the risks of a command, including the risks of the programs that it may run. Empty if no risk is found.
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

/// Returns true if a word of the command means a deployment. In a path, only the last name is compared:
/// `target/release/app` does not mean a release.
fn deploys(part: &Part) -> bool {
    let named = |word: &str| pieces(base(word)).iter().any(|piece| is_deploying(piece));
    let words = part.arguments.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    let applies = |word: &str| word == "apply" && APPLYING.contains(&base(&part.program));
    std::iter::once(part.program.as_str()).chain(words).any(|word| named(word) || applies(word))
}

/// Returns true if the text is a word of `DEPLOYING` or another form of such a word: `deploys`, `deployment`,
/// `releases`.
fn is_deploying(piece: &str) -> bool {
    DEPLOYING.iter().any(|word| {
        piece
            .strip_prefix(word)
            .is_some_and(|rest| matches!(rest, "" | "s" | "es" | "er" | "ing" | "ment" | "ments"))
    })
}

/// Returns true if the word of a command bundles short options, such as `-rf`, and contains one of these letters.
fn short(word: &str, letters: &str) -> bool {
    word.strip_prefix('-')
        .is_some_and(|rest| !rest.starts_with('-') && rest.contains(|c| letters.contains(c)))
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Splits a word into pieces. `--env=production-eu` becomes `env`, `production`, `eu`.
fn pieces(word: &str) -> Vec<String> {
    let split = word.split(|c: char| !c.is_alphanumeric()).filter(|piece| !piece.is_empty());
    split.map(str::to_lowercase).collect()
}
