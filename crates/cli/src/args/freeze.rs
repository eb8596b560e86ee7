//! Arguments of `freeze` and `unfreeze`.

/// Target of a freeze. Without any argument, everything is frozen.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct FreezeOf {
    /// One run: `run_…`
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// All runs of the workflow of this name.
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
    /// All calls of the agent of this name, in every run.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
}
