//! Writes copies of signed checkpoints to a file outside the server, and sends them to channels. After each interval, a
//! new checkpoint is signed if the journal has grown since the last one. A checkpoint is appended to a file, and sent
//! to the channels that are configured to receive checkpoints. The last checkpoint is appended to the file just before
//! the server stops.

use std::fs::OpenOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::notice::CheckpointNotice;
use holdshort_core::system::checkpoint::{CheckpointTree, LastSentCheckpoint};
use holdshort_engine::{Error, evidence};
use holdshort_web::app::App;

/// Settings for copies of checkpoints: the file to which they are written, and the interval.
#[derive(Clone, Debug)]
pub struct KeepCheckpoints {
    /// File to which checkpoints are appended, created if it is missing. `None` if checkpoints are sent only to
    /// channels.
    pub file: Option<PathBuf>,
    pub every: Duration,
}

/// Default interval between two checkpoints, in milliseconds.
pub const CHECKPOINT_EVERY_MS: u64 = 3_600_000;
/// Time until the next check for a due checkpoint if the journal has not grown.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// Checks that checkpoints can be appended to a file, which is created if it is missing. Called when the server starts.
pub(crate) fn try_file(file: &Path) -> io::Result<()> {
    OpenOptions::new().create(true).append(true).open(file).map(drop)
}

/// Checks that the server could append checkpoints to a file. Does not create the file.
pub(crate) fn could_write(file: &Path) -> io::Result<()> {
    match OpenOptions::new().append(true).open(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
            if folder.unwrap_or(Path::new(".")).is_dir() { Ok(()) } else { Err(error) }
        }
        opened => opened.map(drop),
    }
}

/// Appends a signed checkpoint to a file at each interval in which the journal has grown. A failed write is logged, and
/// tried again after the next interval.
pub(crate) async fn keep(app: Arc<App>, file: PathBuf, every: Duration) {
    let mut covered = 0;
    loop {
        tokio::time::sleep(every).await;
        covered = write(&app, &file, covered).await;
    }
}

/// Appends to the file a checkpoint that includes all events of the journal. Called when the server stops.
pub(crate) async fn keep_last(app: &Arc<App>, file: &Path) {
    write(app, file, 0).await;
}

/// Appends a checkpoint to a file if the journal has more than `covered` events. Returns the number of events that the
/// last written checkpoint includes.
async fn write(app: &Arc<App>, file: &Path, covered: u64) -> u64 {
    match try_to_write(app, file, covered).await {
        Ok(size) => size,
        Err(error) => {
            tracing::error!(file = %file.display(), %error, "the checkpoint could not be appended to the file");
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

/// Sends a checkpoint to the channels at each interval in which the journal has grown. The journal records each sent
/// checkpoint, so that a restarted server or another node does not send it again.
pub(crate) async fn send_at_intervals(app: Arc<App>, every: Duration) {
    loop {
        let wait = match send_if_due(&app, every).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::error!(%error, "the checkpoint could not be sent to the channels");
                every.min(LOOK_AGAIN)
            }
        };
        tokio::time::sleep(wait).await;
    }
}

/// Sends a checkpoint to the channels if it is due. Returns the time until the next check.
async fn send_if_due(app: &Arc<App>, every: Duration) -> Result<Duration, Error> {
    let every_ms = u64::try_from(every.as_millis()).unwrap_or(u64::MAX);
    let soon = every.min(LOOK_AGAIN);
    let system = app.driver.system().await?;
    // A server that was restored from a backup is frozen. It sends no checkpoint until a person has unfrozen the
    // installation.
    if system.freezes.all.is_some() {
        return Ok(soon);
    }
    let now = app.now();
    if let Some(last) = &system.checkpoint_told {
        let due = last.at.plus_ms(every_ms);
        if now < due {
            return Ok(Duration::from_millis(due.ms_since(now)));
        }
    }
    let size = app.evidence.size().await?;
    let is_due = |last: &LastSentCheckpoint| last.is_next_due(now, every_ms, size);
    if size == 0 || !system.checkpoint_told.as_ref().is_none_or(is_due) {
        return Ok(soon);
    }
    let signed = app.evidence.checkpoint(&app.driver).await?;
    let evidence::Checkpoint { size, root, .. } = signed.checkpoint;
    let notice = CheckpointNotice {
        at: signed.at,
        covered: CheckpointTree { size, root },
        note: signed.note,
        key: signed.key,
        to: None,
    };
    app.driver.notify_checkpoint(&notice, every_ms).await?;
    Ok(every)
}
