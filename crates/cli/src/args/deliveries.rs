//! Arguments of `deliveries`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Deliveries {
    /// The newest first
    List {
        /// Only those to this channel.
        #[arg(long, value_name = "NAME")]
        channel: Option<String>,
        /// Only those that stand so.
        #[arg(long, value_parser = ["waiting", "delivered", "failed", "dropped"])]
        state: Option<String>,
    },
    /// One, with each attempt
    Show {
        /// `dlv_…`
        delivery: String,
    },
    /// Send one again, now; a channel that was disabled is tried again
    Retry {
        /// `dlv_…`
        delivery: String,
    },
}
