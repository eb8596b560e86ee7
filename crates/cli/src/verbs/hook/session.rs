//! One event of a coding agent, and what is needed to answer it. The steps are in `steps.rs`.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use holdshort_core::digest::Digest;
use holdshort_edges::hooks::{Cli, HookEvent};

use super::coding_cli::CodingCli;
use super::guard::Guard;
use super::released_command::ReleasedCommand;
use super::reply::Reply;
use super::server::Server;
use super::state::StateFile;

/// One event of a coding agent, and what is needed to answer it.
pub(super) struct Session<'a> {
    pub cli: Cli,
    /// Coding agent in the configuration of the hook.
    pub coding_cli: CodingCli,
    pub guard: Guard,
    pub server: Server,
    pub state: StateFile,
    /// Folder of the installed hook.
    pub root: PathBuf,
    pub event: &'a HookEvent,
    pub reply: &'a Reply,
    pub released: ReleasedCommand,
    /// Maximum time of a trial. `None`: the hook was installed without trials.
    pub trial_time: Option<Duration>,
    /// Time at which `reply` answers by itself.
    pub deadline: Instant,
    /// Digest that identifies the session of the coding agent.
    pub name: Digest,
    /// True if the answer at the deadline is a deferral.
    pub defers: bool,
}
