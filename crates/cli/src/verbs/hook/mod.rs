//! `hook`: puts coding agents behind the gates of Holdshort. A coding agent starts `hook run` before each tool call.
//!
//! `hook run` fails closed: it prints exactly one answer before the agent stops waiting, and every error is an answer
//! that stops the tool. It decides nothing itself except that protected places and deciding commands are denied. The
//! forms of the agents are in `holdshort_edges::hooks`. Start at `run.rs`. `install.rs` and `uninstall.rs` change the
//! settings of the agent, and `status.rs` repeats every check.

mod agent_key;
mod checks;
pub(crate) mod coding_cli;
pub(super) mod config;
mod extensions;
mod files;
pub(super) mod guard;
mod install;
mod open_request;
mod own_program;
mod own_rules;
mod protected_places;
mod record;
mod released_command;
mod replaced_command;
mod reply;
pub(super) mod request;
mod resolved_path;
mod run;
mod second_event;
mod server;
mod session;
mod settings;
mod start_line;
mod starter_rules;
mod state;
mod status;
mod steps;
mod uninstall;
pub(super) mod unsafe_places;
mod versions;
mod written_file;

pub(crate) use reply::stop_on_panic;
pub(crate) use run::run;
pub(super) use status::reports;

use super::Scene;
use crate::args::Hook;
use crate::exit::Exit;

pub(super) async fn hook(scene: &Scene, verb: Hook) -> anyhow::Result<Exit> {
    match verb {
        Hook::Install(args) => install::install(scene, &args).await,
        Hook::Uninstall(args) => uninstall::uninstall(scene, &args).await,
        Hook::Status(args) => status::status(scene, &args).await,
        Hook::Rules { file } => starter_rules::rules(file.as_deref()),
        Hook::Run(args) => run::run(&args),
    }
}
