//! The layer of a run is a folder with the Git-ignored files that commands of a run wrote during trials. This module
//! finds the layers in the data folder of this node, and removes those of runs that have ended.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use holdshort_core::changeset::Changeset;
use holdshort_core::id::RunId;
use holdshort_core::limits;
use holdshort_core::time::Timestamp;
use holdshort_store::Tables as _;
use holdshort_tools::RunLayer;

use super::RealDriver;
use crate::{Clock, Error};

const FOLDER: &str = "layers";
/// Time between two removals of the layers of ended runs.
const SWEEP: Duration = Duration::from_hours(1);

/// Returns the layer of a run on this node: the folder with its Git-ignored files. The folder may not exist yet.
pub(super) fn for_run(data: &Path, run: &RunId) -> RunLayer {
    RunLayer::new(data.join(FOLDER).join(run.as_str()))
}

impl RealDriver {
    /// Returns the number of Git-ignored files of a run that a merge would copy from this node to the workspace.
    pub async fn unmerged(&self, run: &RunId) -> Result<usize, Error> {
        let state = self.now(run).await?;
        let Some(workspace) = state.config().and_then(|config| config.workspace.clone()) else {
            return Ok(0);
        };
        let layer = for_run(&self.executor().data, run);
        let counted = tokio::task::spawn_blocking(move || layer.unmerged(Path::new(&workspace))).await;
        let counted = counted.map_err(|e| Error::Internal(e.to_string()))?;
        counted.map_err(|e| Error::Internal(format!("the ignored files of {run} cannot be counted: {e}")))
    }
}

/// Removes the stored Git-ignored files (layers) of runs that ended some time ago. Repeats this until the future is
/// dropped.
pub(super) async fn keep_removing(driver: Arc<RealDriver>) {
    loop {
        let layers = remove_old(&driver).await;
        if layers > 0 {
            tracing::info!(layers, "removed the layers of runs that have ended");
        }
        driver.clock().sleep(SWEEP).await;
    }
}

/// Removes the layer of each run (its stored Git-ignored files) that ended some time ago, is not in the journal, or had
/// its content erased on any node. Returns the number of removed layers.
async fn remove_old(driver: &RealDriver) -> usize {
    let before = driver.clock().now().minus_ms(limits::LAYER_MS);
    let mut removed = 0;
    for (run, layer) in found(driver.executor().data.join(FOLDER)).await {
        match is_over(driver, &run, before).await {
            Ok(false) => {}
            Ok(true) => {
                remove(layer).await;
                removed += 1;
            }
            // An unreadable run does not prevent the removal of other layers.
            Err(error) => tracing::warn!(%run, %error, "the layer of a run was not removed"),
        }
    }
    removed
}

async fn is_over(driver: &RealDriver, run: &RunId, before: Timestamp) -> Result<bool, Error> {
    Ok(match driver.journal().run(run).await? {
        None => true,
        Some(row) if !row.status.is_terminal() => false,
        Some(row) => row.updated_at < before || driver.is_erased(&row).await?,
    })
}

async fn found(folder: PathBuf) -> Vec<(RunId, RunLayer)> {
    let listed = tokio::task::spawn_blocking(move || {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let layer = |entry: std::fs::DirEntry| {
            let run = entry.file_name().to_str()?.parse().ok()?;
            Some((run, RunLayer::new(entry.path())))
        };
        entries.filter_map(layer).collect()
    });
    listed.await.unwrap_or_default()
}

/// Removes from the layer the paths that a merge has copied to the workspace. Runs on a blocking thread.
pub(super) async fn forget(layer: RunLayer, merged: Arc<Changeset>) {
    if let Err(error) = tokio::task::spawn_blocking(move || layer.forget_merged(&merged)).await {
        tracing::warn!(%error, "the layer of a run still contains the merged files");
    }
}

/// Removes the layer of a run: the folder with its Git-ignored files. Runs on a blocking thread.
pub(super) async fn remove(layer: RunLayer) {
    if let Err(error) = tokio::task::spawn_blocking(move || layer.remove()).await {
        tracing::warn!(%error, "the layer of a run was not removed");
    }
}
