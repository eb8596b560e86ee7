//! The folder that a task works in where its config names none that may be used (contract E40): one of its own, beside
//! the server's data, where it stays for whoever wants what the task made.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use holdshort_core::run::Config;
use holdshort_engine::Executor;
use holdshort_web::app::App;
use holdshort_web::problem::{Answer, Refused};

use super::config::{Idle, Translated};
use super::start::{TaskId, in_words};

/// Where the native API names the folder.
const WORKSPACE: &str = "/config/workspace";
/// Of the name that a task's folder has.
const DIGITS: usize = 16;

/// Lets a task that needs a folder work in one of its own where it has no other. Where none can be made the start is
/// refused, by what is wrong with the one that was named.
pub(super) async fn settle(app: &App, task: &TaskId, translated: &mut Translated) -> Answer<()> {
    let Translated { definition, config, .. } = &*translated;
    let looked = app.driver.executor().prepare(definition, config.clone()).await;
    let Some(problem) =
        looked.err().and_then(|problems| problems.into_iter().find(|problem| problem.pointer == WORKSPACE))
    else {
        return Ok(());
    };
    // What else is wrong is told before a folder is made for nothing.
    let mut without = definition.clone();
    without.tools.clear();
    let rest = Config { workspace: None, ..config.clone() };
    if let Err(problems) = app.driver.executor().prepare(&without, rest).await {
        return Err(in_words(Refused::invalid(problems)));
    }
    let digest = task.digest().to_string();
    let Some(folder) = beside(&app.data).map(|all| all.join(&digest[..DIGITS])) else { return Ok(()) };
    let made = folder.clone();
    let made =
        tokio::task::spawn_blocking(move || DirBuilder::new().recursive(true).mode(0o700).create(made));
    match made.await {
        Ok(Ok(())) => {
            let folder = folder.to_string_lossy().into_owned();
            let why = format!("{}: the task works in {folder}", problem.message);
            translated.idle.push(Idle { key: "work_dir".to_owned(), why });
            translated.config.workspace = Some(folder);
        }
        failed => {
            tracing::warn!(?failed, folder = %folder.display(), "no folder for a task of the MARS edge");
        }
    }
    Ok(())
}

/// `DATA-work`: tools never reach the data folder itself.
fn beside(data: &Path) -> Option<PathBuf> {
    let name = data.file_name()?.to_str()?;
    Some(data.parent()?.join(format!("{name}-work")))
}
