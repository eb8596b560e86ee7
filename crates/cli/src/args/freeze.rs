//! Arguments of `freeze` and `unfreeze`.

/// Target of a freeze. Without any argument, everything is frozen.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
pub(crate) struct FreezeOf {
    /// One run: `run_…`
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
    /// Freeze all runs of the workflow with this name.
    #[arg(long, value_name = "NAME")]
    pub workflow: Option<String>,
    /// Freeze all calls of the agent with this name, in every run.
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
}
