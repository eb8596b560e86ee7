//! Command line with which a coding agent carries out a command that was tried and released. It replaces the original
//! command, which never runs.
//!
//! The line contains a secret that the server accepts once. A hook that is asked twice about one call derives the same
//! secret, and prints the same line.

use std::path::{Path, PathBuf};

use holdshort_core::digest::Digest;
use rustix::process::geteuid;
use serde_json::json;

use super::config::HookConfig;
use crate::shell::quoted;

/// Program that carries out released commands, and the facts from which the secret of a call is derived.
#[derive(Debug)]
pub(super) struct ReleasedCommand {
    program: PathBuf,
    /// File of the configuration, which the line names.
    file: PathBuf,
    config: Digest,
    agent_key: String,
}

impl ReleasedCommand {
    pub(super) fn new(config: &HookConfig, file: &Path, agent_key: &str) -> Self {
        let identity = config.root_identity;
        Self {
            program: config.program.clone(),
            file: file.to_owned(),
            config: Digest::of_json(&json!([config.root, identity.device, identity.inode])),
            agent_key: agent_key.to_owned(),
        }
    }

    /// Returns the secret of a call. `session`: digest of the agent's session. `once`: identifies the call in the
    /// session. `same`: digest of the call itself. Nobody can derive the secret without the agent key.
    pub(super) fn secret(&self, session: &Digest, once: &str, same: &Digest) -> String {
        let user = geteuid().as_raw();
        Digest::of_json(&json!(["exec", self.agent_key, user, self.config, session, once, same])).to_string()
    }

    /// Returns the command line for the approved interrupt.
    pub(super) fn line(&self, interrupt: &str, secret: &str) -> String {
        let [program, file] = [&self.program, &self.file].map(|path| quoted(&path.display().to_string()));
        format!("{program} exec --config {file} {interrupt}.{secret}")
    }
}
