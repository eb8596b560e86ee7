//! Arguments of `decide`.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
pub(crate) struct Decide {
    /// `int_…`
    pub interrupt: String,
    /// One of its options: `holdshort show ID` lists them.
    pub option: String,
    /// Answer, reason or feedback.
    #[arg(long)]
    pub text: Option<String>,
    /// Replacement of the arguments, the plan or the output: JSON, or plain text if text is edited (`-`: standard
    /// input).
    #[arg(long, value_name = "FILE")]
    pub edit: Option<PathBuf>,
    /// Takes the answer to an earlier question, one that `show` suggests from history.
    #[arg(long, value_name = "INT", conflicts_with_all = ["text", "edit"])]
    pub from: Option<String>,
    /// Releases this open interrupt with the grant as well: one that `show` lists as covered. May be given more than once.
    #[arg(long, value_name = "INT")]
    pub also: Vec<String>,
    /// Only if the interrupt still has this version.
    #[arg(long, value_name = "N")]
    pub version: Option<u64>,
    /// Allow a change that the card does not show completely; without this flag it is refused.
    #[arg(long)]
    pub unseen: bool,
}
