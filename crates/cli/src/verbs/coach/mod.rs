//! The coach: a configuration becomes a run, and what came of it becomes files.

mod charts;
mod config;
mod numbers;
mod save;
mod story;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use holdshort_protocol::{AskingConfig, RunConfig};
use serde_json::Value;

use self::config::Config;
pub(super) use self::config::Prepared;
pub(super) use self::save::save;
use crate::args;
use crate::called::holdshort;
use crate::exit::{Exit, usage};
use crate::output::{say, tell};

/// The workflow that this is for.
pub(crate) const WORKFLOW: &str = "coach";

/// The tool that draws: agents have it where the configuration says so.
const PLOTS: &str = "plot_series";

const TEMPLATE: &str = include_str!("template.yaml");

/// What the configuration says, where there is one.
pub(super) fn prepared(args: &args::Run) -> anyhow::Result<Option<Prepared>> {
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
    for folder in [&prepared.data, &prepared.output] {
        fs::create_dir_all(folder).map_err(|error| usage(format!("{}: {error}", folder.display())))?;
    }
    for notice in &prepared.notices {
        tell(&format!("Note: {notice}."));
    }
    if fs::read_dir(&prepared.data)?.next().is_none() {
        let folder = prepared.data.display();
        tell(&format!("Note: {folder} holds no training data, so nothing can be computed."));
    }
    Ok(Some(prepared))
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

/// Has a run that is started without a configuration leave its files, too.
pub(super) fn leave_files(workflow: &str, input: &mut Value, folder: &Path) {
    if workflow == WORKFLOW {
        input["output_directory"] = folder.display().to_string().into();
    }
}

pub(super) fn init_of(workflow: &str, path: &Path) -> anyhow::Result<Exit> {
    if workflow != WORKFLOW {
        return Err(usage(format!("only `{WORKFLOW}` has a configuration; `{workflow}` has none")));
    }
    init(path)
}

/// Writes the commented template, and never over a file.
pub(super) fn init(path: &Path) -> anyhow::Result<Exit> {
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
        "Edit it, put your training data beside it, and say: {} run coach --config {}",
        holdshort(),
        path.display()
    ));
    Ok(Exit::Ok)
}
