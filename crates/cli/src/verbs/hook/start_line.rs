//! Command line with which a coding agent starts the hook.

use std::path::Path;

use super::coding_cli::CodingCli;
use crate::shell::quoted;

/// Returns the arguments with which a coding agent starts the hook, with a space in front of them.
pub(crate) fn arguments(cli: CodingCli, config: &Path) -> String {
    format!(" hook run {} --config {}", cli.word(), quoted(&config.display().to_string()))
}

/// Returns true for a command line of the hook with this configuration, whatever program it starts.
pub(crate) fn is_ours(command: &str, cli: CodingCli, config: &Path) -> bool {
    let arguments = arguments(cli, config);
    let rest = command.find(&arguments).map(|start| &command[start + arguments.len()..]);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}
