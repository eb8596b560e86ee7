//! Arguments of `hook`.

use clap::Subcommand;

use super::hook_setup::{HookInstall, HookStatus, HookUninstall};

#[derive(Debug, Subcommand)]
pub(crate) enum Hook {
    /// Make a coding agent ask Holdshort before each tool call. Shows the change of the agent's settings first
    Install(HookInstall),
    /// Remove the hook of a coding agent, and revoke its agent key
    Uninstall(HookUninstall),
    /// Check that the hooks hold. Exits with 1 if one does not
    Status(HookStatus),
}
