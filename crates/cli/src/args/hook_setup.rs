//! Arguments of `hook install`, `hook uninstall` and `hook status`.

use std::path::PathBuf;

use crate::verbs::hook::coding_cli::CodingCli;

#[derive(Debug, clap::Args)]
pub(crate) struct HookInstall {
    /// The coding agent.
    pub cli: CodingCli,
    #[command(flatten)]
    pub root: HookRoot,
    /// Name of the agent key. Cards and events show this name [default: the coding agent's name, such as
    /// `claude-code`].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Install the hook even if other hooks run before the same tools. With this flag you confirm that those hooks
    /// change no call.
    #[arg(long)]
    pub keep_other_hooks: bool,
    #[command(flatten)]
    pub apply: ApplyChange,
}

/// Arguments that select the folder in which the agent works.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct HookRoot {
    /// The folder in which the agent works [default: the current folder].
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Install the hook for all your folders, instead of one project.
    #[arg(long)]
    pub user: bool,
}

/// Arguments that select whether a change of settings is only shown, or applied without a question.
#[derive(Clone, Copy, Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct ApplyChange {
    /// Only show the change.
    #[arg(long)]
    pub dry_run: bool,
    /// Apply the change without a question.
    #[arg(long)]
    pub yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HookUninstall {
    /// The coding agent.
    pub cli: CodingCli,
    #[command(flatten)]
    pub apply: ApplyChange,
}

#[derive(Debug, clap::Args)]
pub(crate) struct HookStatus {
    /// The coding agent [default: all agents with a hook].
    pub cli: Option<CodingCli>,
}
