//! Arguments of `exec`.

use std::path::PathBuf;

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Exec {
    /// Configuration of the hook that released the call.
    #[arg(long, value_name = "FILE")]
    pub config: PathBuf,
    /// Released call: the id of its interrupt and a secret that is used once.
    pub call: String,
}
