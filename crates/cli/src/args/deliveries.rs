//! Arguments of `deliveries`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Deliveries {
    /// List the deliveries, newest first
    List {
        /// List only deliveries to this channel.
        #[arg(long, value_name = "NAME")]
        channel: Option<String>,
        /// List only deliveries in this state.
        #[arg(long, value_parser = ["waiting", "delivered", "failed", "dropped"])]
        state: Option<String>,
    },
    /// Show one delivery, with each attempt
    Show {
        /// Id of the delivery: `dlv_…`.
        delivery: String,
    },
    /// Retry a delivery now; a disabled channel is enabled again
    Retry {
        /// Id of the delivery: `dlv_…`.
        delivery: String,
    },
}
