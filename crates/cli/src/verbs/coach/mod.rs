//! The coach: a configuration becomes a run, and what came of it becomes files.

mod charts;
mod config;
mod given;
mod numbers;
mod save;
mod story;
mod unread;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use holdshort_protocol::{AskingConfig, Run, RunConfig, Status, plain};

use self::config::Config;
pub(super) use self::config::Prepared;
use super::made_folders::MadeFolders;
use crate::args;
use crate::called::holdshort;
use crate::client::Client;
use crate::exit::{Exit, usage};
use crate::output::{say, say_all, tell, tell_all};
pub(super) use crate::terminal::coach::WORKFLOW;
use crate::terminal::paint::Paint;

/// The tool that draws: agents have it where the configuration says so.
const PLOTS: &str = "plot_series";

const TEMPLATE: &str = include_str!("template.yaml");

/// What the configuration says, where there is one, and the folders that were made for it.
pub(super) fn prepared(args: &args::Run) -> anyhow::Result<Option<(Prepared, MadeFolders)>> {
    let Some(path) = &args.config else { return Ok(None) };
    if args.workflow != WORKFLOW {
        return Err(usage(format!("--config is of the workflow `{WORKFLOW}`; `{}` has none", args.workflow)));
    }
    let config = Config::read(path).map_err(usage)?;
    let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = beside.canonicalize().map_err(|error| usage(format!("{}: {error}", beside.display())))?;
    let today = jiff::Zoned::now().date();
    let output = args.output_dir.as_deref().map(std::path::absolute).transpose()?;
    let prepared = config.prepare(&beside, output.as_deref(), today);
    prepared.check().map_err(usage)?;
    save::check(&prepared.output).map_err(usage)?;
    let mut made = MadeFolders::default();
    for folder in [&prepared.data, &prepared.output] {
        made.make(folder).map_err(|error| usage(format!("{}: {error}", folder.display())))?;
    }
    for notice in prepared.notices.iter().cloned().chain(save::of_another(&prepared.output)) {
        tell_all(&Paint::stderr().message(&format!("Note: {notice}."), 2));
    }
    tell_of_data(&prepared);
    Ok(Some((prepared, made)))
}

/// What is not read is told before anybody works on the rest: without a recording its day looks like a day of rest.
fn tell_of_data(prepared: &Prepared) {
    let folder = prepared.data.display();
    match holdshort_tools::not_read(&prepared.data, prepared.time_zone.as_deref()) {
        Ok(not_read) => {
            if not_read.refused == not_read.files {
                tell(&format!("Note: {folder} holds no training data, so nothing can be computed."));
            }
            if let Some(line) = unread::line(&not_read) {
                tell_all(&Paint::stderr().message(&format!("Training data: {line}."), 2));
            }
        }
        Err(error) => tell(&format!("Note: the training data in {folder} can not be read: {error}.")),
    }
}

impl Prepared {
    /// What of it the run sets for itself.
    pub(super) fn config(&self, workspace: Option<String>) -> RunConfig {
        RunConfig {
            workspace,
            model: self.model.clone(),
            asking: (!self.asks).then_some(AskingConfig { enabled: false }),
            without_tools: if self.plots { Vec::new() } else { vec![PLOTS.to_owned()] },
            ..RunConfig::default()
        }
    }
}

/// Where the files of a run go, and whether it rests until somebody attaches to it again.
pub(super) struct Files<'a> {
    pub folder: &'a Path,
    pub rests: bool,
}

/// Writes the files of a run into a folder that whoever is at this terminal has named, and says so. A run that is not a
/// coach's has none.
pub(super) async fn leave_files(client: &Client, run: &str, files: Files<'_>, json: bool) {
    let Files { folder, rests } = files;
    let written = match client.get::<Run>(&format!("/v1/runs/{run}")).await {
        Ok(run) if run.workflow != WORKFLOW => return,
        Ok(mut run) => {
            if rests && matches!(run.status, Status::Queued | Status::Running) {
                run.status = Status::Waiting;
            }
            save::save(client, &run, folder).await.map(|written| (written, run.status))
        }
        Err(error) => Err(error),
    };
    match written {
        Ok(((folder, names), status)) if !json => {
            let partial = if status == Status::Completed { "" } else { ", as far as it came" };
            let told =
                format!("  In {}{partial}: {}", plain::line(&folder.display().to_string()), names.join(", "));
            say_all(&Paint::stdout().message(&told, 2));
        }
        Ok(_) => {}
        Err(error) => tell(&format!("  Its files are not written: {}", crate::output::error(&error))),
    }
}

/// Writes the commented template, and never over a file.
pub(super) fn init(workflow: &str, path: &Path) -> anyhow::Result<Exit> {
    if workflow != WORKFLOW {
        return Err(usage(format!(
            "only `{WORKFLOW}` has a configuration, and `compliance` a case; `{workflow}` has none"
        )));
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    if !["yaml", "yml"].contains(&&*ending) {
        return Err(usage(format!("{}: the template is YAML: name a .yaml or .yml file", path.display())));
    }
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = made.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            usage(format!("{} is there already, and is left as it is", path.display()))
        }
        _ => usage(format!("{}: {error}", path.display())),
    })?;
    file.write_all(TEMPLATE.as_bytes())?;
    say(&path.display().to_string());
    tell(&format!(
        "Edit it, put your training data into the folder `data` beside it, and say: {} run coach --config {}",
        holdshort(),
        path.display()
    ));
    Ok(Exit::Ok)
}
