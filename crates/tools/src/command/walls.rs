//! Whether a command met the walls of its effect, and what its agent is told of that.
//!
//! The kernel reports no refusal to the sandbox, so what the command printed is read. A refusal that goes unnoticed here
//! was one all the same.

use holdshort_core::gate::guarded;
use holdshort_core::tool::CommandEffect;

/// What the system says where a mount is read-only, and where one would have to be renamed.
const REFUSALS: [&str; 2] = ["Read-only file system", "Device or resource busy"];

/// What a shell exits with that may not execute what it found.
const NOT_EXECUTED: i32 = 126;

pub(super) const SET_ASIDE: &str =
    "a person's own tools would run it by themselves, and nobody was asked about that";

/// Of a command that failed.
pub(super) fn met(effect: &CommandEffect, printed: &str, exit_code: Option<i32>) -> bool {
    let mut refused = printed.lines().filter(|line| REFUSALS.iter().any(|refusal| line.contains(refusal)));
    match effect {
        CommandEffect::Reads => exit_code == Some(NOT_EXECUTED) || refused.next().is_some(),
        CommandEffect::Writes { .. } => refused.next().is_some(),
        // The system's own folders are read-only for every command.
        CommandEffect::Workspace => refused.any(names_a_guarded_path),
        CommandEffect::Guarded => false,
    }
}

fn names_a_guarded_path(line: &str) -> bool {
    line.split([' ', '\'', '"', '`', ':', ',', '(', ')', '\u{2018}', '\u{2019}'])
        .any(|word| guarded::guards(word.split('/')).is_some())
}

pub(super) fn told(effect: &CommandEffect) -> &'static str {
    match effect {
        CommandEffect::Reads => {
            "This command was let through as one that only reads: the workspace was read-only, and nothing in it could \
             be executed. If it has to write or to run something, make the same call again: a person is asked."
        }
        CommandEffect::Writes { .. } => {
            "This command was let through to write in certain places only. If it has to write elsewhere, make the same \
             call again: a person is asked."
        }
        CommandEffect::Workspace | CommandEffect::Guarded => {
            "What git, editors and shells run by themselves (configuration, hooks, start-up files) is read-only for \
             commands. If this command has to write there, make the same call again: a person is asked about that."
        }
    }
}
