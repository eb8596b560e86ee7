//! Arguments of `exec`.

use std::path::PathBuf;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Exec {
    /// Configuration of the hook that asked for the approval of the call.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Approved call: the id of its interrupt and a secret that works once.
    pub call: String,
}
