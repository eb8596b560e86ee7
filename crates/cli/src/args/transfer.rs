//! Arguments of `export` and `import`.

use std::path::PathBuf;

use super::StoreArgs;

#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// Path of the new file (`-`: standard output).
    pub file: PathBuf,
    /// Export only this run and its session; may be repeated.
    #[arg(long, value_name = "ID")]
    pub run: Vec<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// A file that `export` wrote. The file is verified completely before anything is imported.
    pub file: PathBuf,
    #[command(flatten)]
    pub store: StoreArgs,
}
