//! `hook`: the coding agents that people run ask Holdshort before each tool call.
//!
//! `install.rs` and `uninstall.rs` change the settings of the agent, `status.rs` repeats every check. The formats of
//! the settings are in `settings/`.

mod agent_key;
mod checks;
mod coding_cli;
mod config;
mod extensions;
mod files;
mod install;
mod protected;
mod record;
mod safe_places;
mod settings;
mod status;
mod uninstall;
mod versions;

use std::path::{Path, PathBuf};

pub(crate) use coding_cli::CodingCli;
use settings::Folders;
pub(super) use status::reports;

use super::Scene;
use crate::args::Hook;
use crate::exit::{Exit, usage};
use crate::shell::quoted;

pub(super) async fn hook(scene: &Scene, verb: Hook) -> anyhow::Result<Exit> {
    match verb {
        Hook::Install(args) => install::install(scene, &args).await,
        Hook::Uninstall(args) => uninstall::uninstall(scene, &args).await,
        Hook::Status(args) => status::status(scene, &args).await,
    }
}

/// Returns the arguments with which a coding agent starts the hook, with a space in front of them.
fn arguments(cli: CodingCli, config: &Path) -> String {
    format!(" hook run {} --config {}", cli.word(), quoted(&config.display().to_string()))
}

/// Returns true for a command line of the hook with this configuration, whatever program it starts.
fn is_ours(command: &str, cli: CodingCli, config: &Path) -> bool {
    let arguments = arguments(cli, config);
    let rest = command.find(&arguments).map(|start| &command[start + arguments.len()..]);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// Returns the folders of the settings of this user.
fn folders() -> anyhow::Result<Folders> {
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path: &PathBuf| path.is_absolute());
    let home = variable("HOME").ok_or_else(|| usage("HOME is not set: the settings cannot be found"))?;
    Ok(Folders::from_variables(home, &variable))
}
