//! `hook`: the coding agents that people run ask Holdshort before each tool call.
//!
//! `install.rs` and `uninstall.rs` change the settings of the agent, `status.rs` repeats every check. The formats of
//! the settings are in `settings/`.

mod agent_key;
mod checks;
pub(crate) mod coding_cli;
mod command_line;
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

pub(super) use status::reports;

use super::Scene;
use crate::args::Hook;
use crate::exit::Exit;

pub(super) async fn hook(scene: &Scene, verb: Hook) -> anyhow::Result<Exit> {
    match verb {
        Hook::Install(args) => install::install(scene, &args).await,
        Hook::Uninstall(args) => uninstall::uninstall(scene, &args).await,
        Hook::Status(args) => status::status(scene, &args).await,
    }
}
