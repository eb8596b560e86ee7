//! Arguments of `hook`.

use std::path::PathBuf;

use clap::Subcommand;

use super::hook_setup::{HookInstall, HookStatus, HookUninstall};
use crate::verbs::hook::coding_cli::CodingCli;

#[derive(Debug, Subcommand)]
pub(crate) enum Hook {
    /// Make a coding agent ask Holdshort before each tool call. Shows the change of the agent's settings first
    Install(HookInstall),
    /// Remove the hook of a coding agent, and revoke its agent key
    Uninstall(HookUninstall),
    /// Check that the installed hooks work. Exits with 1 if a check fails
    Status(HookStatus),
    /// Print rules to start with, or write them into a new file
    Rules {
        /// Path of the new file [default: the rules are printed].
        file: Option<PathBuf>,
    },
    /// Answer a coding agent before it runs a tool. The coding agent starts this command for each call
    ///
    /// Reads the payload of the hook on standard input, asks the server, waits for the decision, and prints the answer
    /// in the form of the coding agent. Every error stops the tool (exit code 2).
    Run(HookRun),
}

#[derive(Debug, clap::Args)]
pub(crate) struct HookRun {
    /// The coding agent that starts this command.
    pub cli: CodingCli,
    /// Configuration of the hook.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// If no decision arrives in time, end `claude -p` instead of denying the call. The call is decided when the
    /// session is resumed. Use this flag only for Claude Code without a terminal, and only if Claude Code's own rules
    /// allow no tool.
    #[arg(long)]
    pub defer: bool,
}
