//! Whether the sandbox refused a command something, and what its agent is told.
//!
//! The kernel does not report refusals to the sandbox, so the output of the command is searched for them. A refusal
//! that is not found in the output was enforced all the same.

use holdshort_command::guarded;
use holdshort_core::tool::CommandEffect;

use crate::limits;

/// What the system says where a mount is read-only, and where one would have to be renamed.
const REFUSALS: [&str; 2] = ["Read-only file system", "Device or resource busy"];

/// What a shell exits with that may not execute what it found.
const NOT_EXECUTED: i32 = 126;

pub(super) const SET_ASIDE: &str =
    "a person's own tools would run it by themselves, and nobody was asked about that";

/// What is known of a wall that a command may have met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wall {
    /// The system's words say so.
    Met,
    /// It failed in silence, where a wall is one of the reasons that it may have.
    Perhaps,
}

/// `printed`: all that the command printed. `workspace`: its path. Exit codes say little: `touch x || true` ends well, and a script that
/// sends its errors elsewhere fails without a word.
pub(super) fn met(
    effect: &CommandEffect,
    printed: &str,
    exit_code: Option<i32>,
    workspace: &str,
) -> Option<Wall> {
    let failed = exit_code != Some(0);
    let mut refused = printed.lines().filter(|line| REFUSALS.iter().any(|refusal| line.contains(refusal)));
    let met = match effect {
        // What reads may print a file that holds these words, and has written nothing that could be refused.
        CommandEffect::Reads => failed && (exit_code == Some(NOT_EXECUTED) || refused.next().is_some()),
        CommandEffect::Writes { .. } => refused.next().is_some(),
        // The system's own folders are read-only for every command.
        CommandEffect::Workspace => refused.any(|line| names_a_guarded_path(line, workspace)),
        CommandEffect::Guarded => false,
    };
    if met {
        return Some(Wall::Met);
    }
    let in_silence = exit_code.is_some_and(|code| code != 0) && printed.trim().is_empty();
    match effect {
        CommandEffect::Writes { .. } if in_silence => Some(Wall::Perhaps),
        CommandEffect::Reads
        | CommandEffect::Writes { .. }
        | CommandEffect::Workspace
        | CommandEffect::Guarded => None,
    }
}

/// What the system says where the filter of system calls refuses a mode, a device, a socket, or an attribute of a
/// file. Holds for every effect, so that asking a person changes nothing.
const FILTERED: [&str; 2] = ["Operation not permitted", "Operation not supported"];

/// Lines of what a command printed that are told as refused for good.
const FILTERED_LINES: usize = 8;

pub(super) const FILTERED_TOLD: &str = "No command may set set-user-id or set-group-id bits, keep the owner of a file from reading it, make devices, \
     make sockets in the workspace, or set extended attributes: if this was refused here, it is refused however often \
     it is tried.";

/// The lines that say that the filter of system calls refused something, or that the system did for its own reasons.
pub(super) fn filtered(printed: &str) -> Vec<&str> {
    // A device is refused by Landlock, which has other words for it.
    let of_a_device = |line: &str| line.starts_with("mknod: ") && line.contains("Permission denied");
    let says_so = |line: &&str| FILTERED.iter().any(|words| line.contains(words)) || of_a_device(line);
    printed.lines().filter(says_so).take(FILTERED_LINES).collect()
}

/// What programs say that are refused memory: the C library, Python, C++, Rust, Go. Those of Node and Java have limits of
/// their own, and mean these.
const OUT_OF_MEMORY: [&str; 5] = [
    "Cannot allocate memory",
    "MemoryError",
    "std::bad_alloc",
    "memory allocation of ",
    "runtime: out of memory",
];

/// The limit that a command which failed may have met, where it says that it was refused memory.
pub(super) fn memory_told(printed: &str) -> Option<String> {
    let says_so = |line: &str| OUT_OF_MEMORY.iter().any(|words| line.contains(words));
    let gib = limits::RLIMIT_ADDRESS_BYTES >> 30;
    printed.lines().any(says_so).then(|| {
        format!(
            "It was refused memory: it may have met the limit of {gib} GiB of address space a process (`RLIMIT_AS`), or \
             the machine has no more."
        )
    })
}

/// Below the workspace: what lies elsewhere is not the command's, whatever its name.
fn names_a_guarded_path(line: &str, workspace: &str) -> bool {
    line.split([' ', '\'', '"', '`', ':', ',', '(', ')', '\u{2018}', '\u{2019}'])
        .filter_map(|word| if word.starts_with('/') { word.strip_prefix(workspace) } else { Some(word) })
        .any(|word| guarded::guards(word.split('/')).is_some())
}

pub(super) const PERHAPS: &str =
    "It failed without a word, so it may have met the walls of what it was let through with.";

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
