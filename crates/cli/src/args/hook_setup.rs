//! Arguments of `hook install`, `hook uninstall` and `hook status`.

use std::path::PathBuf;

use crate::verbs::hook::coding_cli::CodingCli;

#[derive(Debug, clap::Args)]
pub(crate) struct HookInstall {
    /// The coding agent.
    pub cli: CodingCli,
    #[command(flatten)]
    pub root: HookRoot,
    /// Name of the agent key, which cards and events show [default: such as `claude-code`].
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Accept other hooks before the same tools: you confirm that they change no call.
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
    /// All folders of yours, instead of one project.
    #[arg(long)]
    pub user: bool,
}

/// Arguments that say whether a change of settings is made.
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
