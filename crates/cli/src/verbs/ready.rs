//! `ready`: checks whether the server is ready (`/readyz`), for tools that start and monitor the server.

use std::time::Duration;

use holdshort_protocol::Health;
use tokio::time::{Instant, sleep};

use super::Scene;
use crate::client::is_passing;
use crate::exit::{Exit, Usage, is_no_server};
use crate::output::{print_json, print_text};

const PAUSE: Duration = Duration::from_millis(200);

/// Checks repeatedly whether the server is ready, for up to `wait_ms`. A permanent error, such as a wrong token, ends
/// the check at once.
pub(super) async fn ready(scene: &Scene, wait_ms: Option<u64>) -> anyhow::Result<Exit> {
    let until = Instant::now() + Duration::from_millis(wait_ms.unwrap_or(0));
    let health = loop {
        match ask(scene).await {
            Err(error) if may_pass(&error) && Instant::now() < until => sleep(PAUSE).await,
            answer => break answer?,
        }
    };
    if scene.json {
        print_json(&health)?;
    } else {
        print_text("The server is ready.");
    }
    Ok(Exit::Ok)
}

/// Checks once whether the server is ready. Looks up the server's address first, because a starting server may not have
/// written its address file yet.
async fn ask(scene: &Scene) -> anyhow::Result<Health> {
    scene.client()?.get("/readyz").await
}

fn may_pass(error: &anyhow::Error) -> bool {
    is_no_server(error) || (!error.is::<Usage>() && is_passing(error))
}
