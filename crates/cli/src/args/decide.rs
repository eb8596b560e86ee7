//! Arguments of `decide`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Decide {
    /// Id of the interrupt: `int_…`.
    pub interrupt: String,
    /// Id of one of the options of the interrupt: `holdshort show ID` lists them.
    pub option: String,
    /// Answer, reason or feedback.
    #[arg(long)]
    pub text: Option<String>,
    /// File with the new arguments, the new plan or the new output, as JSON, or as plain text if the original is text
    /// (`-`: standard input).
    #[arg(long, value_name = "FILE")]
    pub edit: Option<PathBuf>,
    /// Send an earlier answer that `show` lists under this id.
    #[arg(long, value_name = "INT", conflicts_with_all = ["text", "edit"])]
    pub from: Option<String>,
    /// Id of another open interrupt to release too. The grant of your decision must cover its call. `show` lists these
    /// ids. May be repeated.
    #[arg(long, value_name = "INT")]
    pub also: Vec<String>,
    /// Decide only if the interrupt still has this version.
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
    /// Approve a change although the card does not show the complete change; without this flag the decision is refused.
    #[arg(long)]
    pub unseen: bool,
}
