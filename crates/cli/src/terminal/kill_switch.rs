//! Kill switch while a card is shown. The person gives a reason, and all runs are frozen.

use holdshort_protocol::{Freeze, System};

use super::paint::Paint;
use crate::client::Client;
use crate::program_name::holdshort;

/// Freezes all runs, and returns the lines to print.
pub(super) async fn freeze(client: &Client, reason: String, paint: Paint) -> Vec<String> {
    let body = Freeze { run: None, workflow: None, agent: None, reason };
    match client.post::<System>("/v1/system/freeze", &body).await {
        Ok(_) => vec![
            "  Frozen: no tool call and no model call starts. Calls that are running finish.".to_owned(),
            format!(
                "  `{} unfreeze{}` lifts the freeze. You can still decide.",
                holdshort(),
                client.server_arguments()
            ),
        ],
        Err(error) => vec![format!("  {}", paint.red(&crate::output::error(&error)))],
    }
}
