//! Arguments of `audit` and `receipt`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::StoreArgs;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Audit {
    /// Verify that the journal is unchanged, with or without a running server
    ///
    /// The table in `docs/journal.md` lists the changes that are always detected, and the changes that are detected
    /// only with an earlier head or checkpoint.
    Verify(Verify),
    /// Print the head of the journal (event count and hash) in one line
    ///
    /// Store this line where people who can write the journal cannot change it.
    Head {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// Export the events of the journal, newest first, for other tools
    Export(AuditExport),
    /// Let the server sign the state of the journal; the signature can be verified without Holdshort
    ///
    /// Store the checkpoint and its key where people who can write the journal cannot change them.
    Checkpoint {
        /// Append the checkpoint to this file [default: print it].
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Verify {
    /// Also verify that the journal still contains, unchanged, all events up to an earlier head. The value is a head
    /// that `audit head` printed, a file with one head per line, or a file of checkpoints.
    #[arg(long, value_name = "HEAD")]
    pub against: Option<String>,
    /// The public key of the checkpoints, as printed by `audit checkpoint`.
    #[arg(long, value_name = "KEY", requires = "against")]
    pub key: Vec<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AuditExport {
    /// Format of the events.
    #[arg(long, value_enum, default_value_t = AuditFormat::Jsonl)]
    pub format: AuditFormat,
    /// Export only events of this stream: the id of a run or a session, or `sys`.
    #[arg(long, value_name = "ID")]
    pub stream: Option<String>,
    /// Export only events of this type, such as `decision_made`.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Export only events by this person or agent.
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
    /// Export only events at or after this time, such as `2026-01-31T00:00:00Z`.
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Export only events before this time.
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Write to this new file [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// One JSON object per line
    Jsonl,
    /// A table as in RFC 4180, with a header line
    Csv,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Receipt {
    /// Id of the interrupt: `int_…`.
    pub interrupt: String,
    /// Write to this new file [default: standard output].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Write a self-contained HTML page for people, ready to print. The page is not a proof; only the receipt is a
    /// proof.
    #[arg(long)]
    pub html: bool,
}
