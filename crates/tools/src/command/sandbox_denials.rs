//! Detects whether the sandbox refused a command something, and explains it to the agent.
//!
//! The kernel does not report refusals to the sandbox, so the output of the command is searched for them. A refusal
//! that is not found in the output was enforced all the same.

use holdshort_command::guarded;
use holdshort_core::tool::CommandEffect;

use crate::limits;

/// Messages of the system for a read-only mount, and for a mount that would have to be renamed.
const REFUSALS: [&str; 2] = ["Read-only file system", "Device or resource busy"];

/// Exit code of a shell that may not execute the file it found.
const NOT_EXECUTED: i32 = 126;

pub(super) const SET_ASIDE: &str =
    "tools of people, such as git or editors, would run it automatically, and nobody approved that";

/// Certainty that the sandbox refused a command something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// A message of the system shows the refusal.
    Met,
    /// The command failed without output, and a refusal is a possible reason.
    Perhaps,
}

/// Detects a refusal. `printed` is the command's whole output, `workspace` its path. Exit codes alone do not show it:
/// `touch x || true` succeeds, and a script that redirects its errors fails without output.
pub(super) fn detect_denial(
    effect: &CommandEffect,
    printed: &str,
    exit_code: Option<i32>,
    workspace: &str,
) -> Option<Denial> {
    let failed = exit_code != Some(0);
    let mut refused = printed.lines().filter(|line| REFUSALS.iter().any(|refusal| line.contains(refusal)));
    let met = match effect {
        // A command that only reads may print a file with these words, and has written nothing that could be refused.
        CommandEffect::Reads => failed && (exit_code == Some(NOT_EXECUTED) || refused.next().is_some()),
        CommandEffect::Writes { .. } => refused.next().is_some(),
        // The system's own folders are read-only for every command.
        CommandEffect::Workspace => refused.any(|line| names_a_guarded_path(line, workspace)),
        CommandEffect::Guarded => false,
    };
    if met {
        return Some(Denial::Met);
    }
    let in_silence = exit_code.is_some_and(|code| code != 0) && printed.trim().is_empty();
    match effect {
        CommandEffect::Writes { .. } if in_silence => Some(Denial::Perhaps),
        CommandEffect::Reads
        | CommandEffect::Writes { .. }
        | CommandEffect::Workspace
        | CommandEffect::Guarded => None,
    }
}

/// Messages of the system if the filter of system calls refuses a mode, a device, a socket, or a file attribute. It
/// refuses them for every effect, so asking a person does not help.
const FILTERED: [&str; 2] = ["Operation not permitted", "Operation not supported"];

/// Number of output lines that are reported as refused by the filter.
const FILTERED_LINES: usize = 8;

pub(super) const FILTERED_TOLD: &str = "Commands may not set set-user-id or set-group-id bits, make a file \
     unreadable for its owner, create devices, create sockets in the workspace, or set extended attributes. \
     A retry of such an operation is refused again.";

/// Returns the lines that show a refusal by the filter of system calls, or by the system for its own reasons.
pub(super) fn filtered(printed: &str) -> Vec<&str> {
    // Landlock refuses a device, with another message.
    let of_a_device = |line: &str| line.starts_with("mknod: ") && line.contains("Permission denied");
    let says_so = |line: &&str| FILTERED.iter().any(|words| line.contains(words)) || of_a_device(line);
    printed.lines().filter(says_so).take(FILTERED_LINES).collect()
}

/// Messages of programs that are refused memory: the C library, Python, C++, Rust, Go. Node and Java have their own
/// limits, and their messages are about these.
const OUT_OF_MEMORY: [&str; 5] = [
    "Cannot allocate memory",
    "MemoryError",
    "std::bad_alloc",
    "memory allocation of ",
    "runtime: out of memory",
];

/// Returns a note about the limit that a failed command may have met, if its output says that it was refused memory.
pub(super) fn describe_memory_limit(printed: &str) -> Option<String> {
    let says_so = |line: &str| OUT_OF_MEMORY.iter().any(|words| line.contains(words));
    let gib = limits::RLIMIT_ADDRESS_BYTES >> 30;
    printed.lines().any(says_so).then(|| {
        format!(
            "It ran out of memory: it may have reached the limit of {gib} GiB of address space per process \
             (`RLIMIT_AS`), or the machine has no memory left."
        )
    })
}

/// Returns true if the line names a guarded path. An absolute path must lie in the workspace.
fn names_a_guarded_path(line: &str, workspace: &str) -> bool {
    line.split([' ', '\'', '"', '`', ':', ',', '(', ')', '\u{2018}', '\u{2019}'])
        .filter_map(|word| if word.starts_with('/') { word.strip_prefix(workspace) } else { Some(word) })
        .any(|word| guarded::guards(word.split('/')).is_some())
}

pub(super) const PERHAPS: &str =
    "It failed without output, so the sandbox may have refused something beyond its permissions.";

pub(super) fn describe_limits(effect: &CommandEffect) -> &'static str {
    match effect {
        CommandEffect::Reads => {
            "This command was allowed as read-only: it could neither write to the workspace nor execute \
             files in it. If it has to write or execute something, make the same call again: a person is \
             asked."
        }
        CommandEffect::Writes { .. } => {
            "This command was allowed to write only in certain places. If it has to write elsewhere, make \
             the same call again: a person is asked."
        }
        CommandEffect::Workspace | CommandEffect::Guarded => {
            "Files that git, editors and shells run automatically (configuration, hooks, start-up files) are \
             read-only for commands. If this command has to write to them, make the same call again: a \
             person is asked."
        }
    }
}
