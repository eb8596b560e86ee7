//! Creates the working directory for a task whose config names no usable one (contract E40). The directory is next to
//! the server's data folder. The directory is never deleted, so the task's files remain available.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use holdshort_core::run::Config;
use holdshort_engine::Executor;
use holdshort_web::app::App;
use holdshort_web::problem::{Answer, Refused};

use super::config::{Translated, UnusedKey, WORK_DIR};
use super::start::translate_error;
use super::task_id::TaskId;

/// Path that errors of the native API give for the working directory of a run.
const WORKSPACE: &str = "/config/workspace";
/// Number of hexadecimal digits in the name of a task's working directory.
const DIGITS: usize = 16;

/// Creates a working directory for a task that needs one and whose config names no usable directory. If the creation
/// fails, the task is rejected because of the directory in the config.
pub(super) async fn ensure_workspace(app: &App, task: &TaskId, translated: &mut Translated) -> Answer<()> {
    let Translated { definition, config, .. } = &*translated;
    let looked = app.driver.executor().prepare(definition, config.clone()).await;
    let Some(problem) =
        looked.err().and_then(|problems| problems.into_iter().find(|problem| problem.pointer == WORKSPACE))
    else {
        return Ok(());
    };
    // Report other problems first, so that no directory is created for a task that cannot start.
    let mut without = definition.clone();
    without.tools.clear();
    let rest = Config { workspace: None, ..config.clone() };
    if let Err(problems) = app.driver.executor().prepare(&without, rest).await {
        return Err(translate_error(Refused::invalid(problems)));
    }
    let digest = task.digest().to_string();
    let Some(folder) = sibling_work_path(&app.data).map(|all| all.join(&digest[..DIGITS])) else {
        return Ok(());
    };
    let made = folder.clone();
    let made =
        tokio::task::spawn_blocking(move || DirBuilder::new().recursive(true).mode(0o700).create(made));
    match made.await {
        Ok(Ok(())) => {
            let folder = folder.to_string_lossy().into_owned();
            let why = match config.workspace {
                Some(_) => format!("is not used: {}. The task works in {folder}", problem.message),
                None => format!("is missing: the task works in {folder}"),
            };
            translated.idle.push(UnusedKey { key: WORK_DIR.to_owned(), why });
            translated.config.workspace = Some(folder);
        }
        failed => {
            tracing::warn!(
                ?failed, folder = %folder.display(),
                "the folder for a task of the MARS edge cannot be created"
            );
        }
    }
    Ok(())
}

/// Returns the path `DATA-work` next to the data folder `DATA`, because tools must not have access to the data folder
/// itself.
fn sibling_work_path(data: &Path) -> Option<PathBuf> {
    let name = data.file_name()?.to_str()?;
    Some(data.parent()?.join(format!("{name}-work")))
}
