//! Arguments of `audit` and `receipt`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::StoreArgs;

#[derive(Clone, Debug, Subcommand)]
pub(crate) enum Audit {
    /// Prove that the journal is as it was written, beside a server or without one
    ///
    /// What is found, and what only shows against a head or a checkpoint that somebody kept, is a table in
    /// `docs/journal.md`.
    Verify(Verify),
    /// Print the head of the journal, in one line: write it down where nobody who writes the journal can write
    Head {
        #[command(flatten)]
        store: StoreArgs,
    },
    /// The events of the journal, the newest first, for whoever reads them elsewhere
    Export(AuditExport),
    /// Have the server sign how the journal stands; others can check that without Holdshort
    ///
    /// Keep it where nobody can write who can write the journal, and its key with it.
    Checkpoint {
        /// Appended to this file, behind those that are there [default: printed].
        #[arg(long, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Verify {
    /// A head that `audit head` printed, a file with one a line, or a file of checkpoints: whether the journal continues
    /// from each.
    #[arg(long, value_name = "HEAD")]
    pub against: Option<String>,
    /// The key of the checkpoints, as `audit checkpoint` told it.
    #[arg(long, value_name = "KEY", requires = "against")]
    pub key: Vec<String>,
    #[command(flatten)]
    pub store: StoreArgs,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AuditExport {
    /// How each event is written.
    #[arg(long, value_enum, default_value_t = AuditFormat::Jsonl)]
    pub format: AuditFormat,
    /// Only of this stream: a run's id, a session's, or `sys`.
    #[arg(long, value_name = "ID")]
    pub stream: Option<String>,
    /// Only of this type, such as `decision_made`.
    #[arg(long = "type", value_name = "TYPE")]
    pub kind: Option<String>,
    /// Only by this person or agent.
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
    /// Not before this moment, such as `2026-01-31T00:00:00Z`.
    #[arg(long, value_name = "TIME")]
    pub from: Option<String>,
    /// Before this moment.
    #[arg(long, value_name = "TIME")]
    pub to: Option<String>,
    /// Written to this new file [default: printed].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuditFormat {
    /// One JSON object a line
    Jsonl,
    /// A table: RFC 4180, with a line of names
    Csv,
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Receipt {
    /// `int_…`
    pub interrupt: String,
    /// Written to this new file [default: printed].
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// As a page for people: one HTML file that needs nothing else and can be printed. The receipt itself is the proof.
    #[arg(long)]
    pub html: bool,
}
