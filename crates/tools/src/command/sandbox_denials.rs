//! Detects whether the sandbox denied a command an operation, and explains the denial to the agent.
//!
//! The kernel does not tell the sandbox about denials, so the output of the command is searched for error messages. An
//! operation stays denied even if no error message about it is found.

use holdshort_command::guarded;
use holdshort_core::tool::CommandEffect;

use crate::limits;

/// Error messages of the system about a write to a read-only mount, and about renaming a mount point.
const REFUSALS: [&str; 2] = ["Read-only file system", "Device or resource busy"];

/// Exit code of a shell that found a program but may not execute it.
const NOT_EXECUTED: i32 = 126;

pub(super) const SET_ASIDE: &str =
    "a person's tools, such as git or editors, would run this file automatically without an approval";

/// Certainty with which it is known that the sandbox denied an operation of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Denial {
    /// An error message in the command's output shows that the sandbox denied an operation.
    Met,
    /// The command failed without output, and a denial by the sandbox is a possible reason.
    Perhaps,
}

/// Returns the denial that the sandbox possibly caused. `printed` is the complete output of the command, and
/// `workspace` is the path of the workspace. The exit code alone does not show a denial: `touch x || true` succeeds
/// although the sandbox denies it, and a script that redirects its errors fails without output.
pub(super) fn detect_denial(
    effect: &CommandEffect,
    printed: &str,
    exit_code: Option<i32>,
    workspace: &str,
) -> Option<Denial> {
    let failed = exit_code != Some(0);
    let mut refused = printed.lines().filter(|line| REFUSALS.iter().any(|refusal| line.contains(refusal)));
    let met = match effect {
        // The output of a successful read-only command proves nothing: the command may have printed a file that
        // contains such error messages.
        CommandEffect::Reads => failed && (exit_code == Some(NOT_EXECUTED) || refused.next().is_some()),
        CommandEffect::Writes { .. } => refused.next().is_some(),
        // Only messages about guarded paths matter: the system's folders are read-only for every command.
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

/// Error messages of the system if the sandbox's filter of system calls denies a file mode, a device, a socket, or a
/// file attribute. The filter denies these operations to every command, even if a person has approved the command.
const FILTERED: [&str; 2] = ["Operation not permitted", "Operation not supported"];

/// Maximum number of lines of a command's output that are reported as operations which the filter of system calls
/// denied.
const FILTERED_LINES: usize = 8;

pub(super) const FILTERED_TOLD: &str = "Commands may not set set-user-id or set-group-id bits, make a file \
     unreadable for its owner, create devices, create sockets in the workspace, or set extended attributes. \
     A retry of such an operation is refused again.";

/// Returns the lines of a command's output that contain an error message which the filter of system calls can cause.
/// Such a message can also have another cause.
pub(super) fn filtered(printed: &str) -> Vec<&str> {
    // Landlock denies a device with a different message.
    let of_a_device = |line: &str| line.starts_with("mknod: ") && line.contains("Permission denied");
    let says_so = |line: &&str| FILTERED.iter().any(|words| line.contains(words)) || of_a_device(line);
    printed.lines().filter(says_so).take(FILTERED_LINES).collect()
}

/// Messages of programs that cannot allocate memory: the C library, Python, C++, Rust, Go. Node and Java are not
/// listed, because their messages are about their own memory limits.
const OUT_OF_MEMORY: [&str; 5] = [
    "Cannot allocate memory",
    "MemoryError",
    "std::bad_alloc",
    "memory allocation of ",
    "runtime: out of memory",
];

/// Returns a note about the memory limit if the output of a failed command says that memory could not be allocated.
pub(super) fn describe_memory_limit(printed: &str) -> Option<String> {
    let says_so = |line: &str| OUT_OF_MEMORY.iter().any(|words| line.contains(words));
    let gib = limits::RLIMIT_ADDRESS_BYTES >> 30;
    printed.lines().any(says_so).then(|| {
        format!(
            "The command ran out of memory. It may have reached the limit of {gib} GiB of address space per \
             process (`RLIMIT_AS`), or the machine has no memory left."
        )
    })
}

/// Returns true if a line of a command's output names a guarded path (such as a Git hook). An absolute path must lie in
/// the workspace.
fn names_a_guarded_path(line: &str, workspace: &str) -> bool {
    line.split([' ', '\'', '"', '`', ':', ',', '(', ')', '\u{2018}', '\u{2019}'])
        .filter_map(|word| if word.starts_with('/') { word.strip_prefix(workspace) } else { Some(word) })
        .any(|word| guarded::guards(word.split('/')).is_some())
}

pub(super) const PERHAPS: &str =
    "The command failed without output, so the sandbox may have denied an operation that needs approval.";

pub(super) fn describe_limits(effect: &CommandEffect) -> &'static str {
    match effect {
        CommandEffect::Reads => {
            "This command was allowed as read-only: it could neither write to the workspace nor execute \
             files in it. If it has to write or execute something, make the same call again; a person then \
             decides."
        }
        CommandEffect::Writes { .. } => {
            "This command was allowed to write only to certain paths. If it has to write to other paths, \
             make the same call again; a person then decides."
        }
        CommandEffect::Workspace | CommandEffect::Guarded => {
            "Files that git, editors and shells run automatically (configuration, hooks, start-up files) \
             are read-only for commands. If this command has to write to these files, make the same call \
             again; a person then decides."
        }
    }
}
