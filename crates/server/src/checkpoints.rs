//! Checkpoints at an interval, appended to a file: while the journal grows, and before the server stops.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdshort_engine::evidence;
use holdshort_web::app::App;

/// Where checkpoints go, and how often.
#[derive(Clone, Debug)]
pub struct KeepCheckpoints {
    /// Made where it is missing; what is in it stays.
    pub file: PathBuf,
    pub every: Duration,
}

impl KeepCheckpoints {
    /// Whether the file can be appended to: what can not be kept is told before the server starts.
    pub(crate) fn try_file(&self) -> io::Result<()> {
        OpenOptions::new().create(true).append(true).open(&self.file).map(drop)
    }
}

/// Signs one at each interval, unless the journal stands where the last one left it. What can not be written is told in the
/// log, and tried again at the next interval.
pub(crate) async fn keep(app: Arc<App>, to: KeepCheckpoints) {
    let mut covered = 0;
    loop {
        tokio::time::sleep(to.every).await;
        covered = write(&app, &to, covered).await;
    }
}

/// The last one, once nothing more is written.
pub(crate) async fn keep_last(app: &Arc<App>, to: &KeepCheckpoints) {
    write(app, to, 0).await;
}

/// How many events are covered then.
async fn write(app: &Arc<App>, to: &KeepCheckpoints, covered: u64) -> u64 {
    match try_to_write(app, &to.file, covered).await {
        Ok(size) => size,
        Err(error) => {
            tracing::error!(file = %to.file.display(), %error, "no checkpoint was written");
            covered
        }
    }
}

async fn try_to_write(app: &Arc<App>, file: &Path, covered: u64) -> io::Result<u64> {
    let size = app.evidence.size().await.map_err(io::Error::other)?;
    if size == covered || size == 0 {
        return Ok(covered);
    }
    let signed = app.evidence.checkpoint(&app.driver).await.map_err(io::Error::other)?;
    let (file, note) = (file.to_owned(), signed.note);
    tokio::task::spawn_blocking(move || evidence::append(&file, &note)).await.map_err(io::Error::other)??;
    Ok(signed.checkpoint.size)
}
