//! The coach's part of the command `holdshort run`. Makes the input of a run from `coach.yaml`, and writes the results
//! as files.

mod asker;
mod charts;
mod config;
mod numbers;
mod save;
mod story;
mod training_values;
mod unread;

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, value_parser};
use holdshort_cli::kit::{
    Client, MadeFolders, Paint, error, holdshort, print_lines, print_message, print_message_lines,
    print_text, usage,
};
use holdshort_cli::pack::{Files, Prepared, RunArguments, Start};
use holdshort_protocol::{AskingConfig, Run, RunConfig, Status, plain};

pub(crate) use self::asker::Runner;
use self::config::{Config, RunSetup};
use crate::{WORKFLOW, tools};

/// Name of the tool with which agents request charts. Agents have it only if the configuration allows charts.
const PLOTS: &str = "plot_series";

const TEMPLATE: &str = include_str!("template.yaml");

const FILE: &str = "coach.yaml";

/// Ids of the options that the coach adds to the command `holdshort run`.
const CONFIG: &str = "config";
const INIT_CONFIG: &str = "init_config";
const COLUMNS: &str = "columns";

pub(crate) fn options() -> Vec<Arg> {
    let file = |id, long| {
        let arg = Arg::new(id).long(long).value_name("FILE").value_parser(value_parser!(PathBuf));
        arg.conflicts_with_all(["task", "input", "workspace"])
    };
    vec![
        file(CONFIG, "config").help(
            "Only for `coach`: configuration file that describes the athlete and names the training data",
        ),
        file(INIT_CONFIG, "init-config")
            .help(
                "Only for `coach`: write a commented configuration file for you to edit, without starting a \
                 run",
            )
            .conflicts_with("output_dir"),
        Arg::new(COLUMNS)
            .long("columns")
            .value_name("NAME=HEADER")
            .action(ArgAction::Append)
            .requires(CONFIG)
            .help(
                "Only for `coach`: name a column of your own tables, as in `duration_min=Dauer`. Repeat the \
                 option for each column. `decimal=,` and `dates=dmy` state the format of the cells",
            ),
    ]
}

/// Prepares the command `holdshort run`. Returns `None` if the command line has no option of the coach.
pub(crate) fn start(arguments: &RunArguments<'_>) -> anyhow::Result<Option<Start>> {
    let path = |id| arguments.options.get_one::<PathBuf>(id);
    match (path(CONFIG), path(INIT_CONFIG)) {
        (Some(_), Some(_)) => Err(usage(
            "--config and --init-config cannot be used together: --config starts a run, and --init-config \
            only writes a configuration file",
        )),
        (None, Some(_)) if arguments.workflow != WORKFLOW => Err(usage(format!(
            "--init-config belongs to the workflow `{WORKFLOW}` and cannot be used with the workflow `{}`",
            arguments.workflow
        ))),
        (None, Some(path)) => Ok(Some(Start::Init(path.clone()))),
        (Some(path), None) => prepared(arguments, path).map(|prepared| Some(Start::Run(Box::new(prepared)))),
        (None, None) => Ok(None),
    }
}

/// Reads the configuration `coach.yaml`, and creates the folders that it names.
#[expect(clippy::disallowed_methods, reason = "the default day of a run is today")]
fn prepared(arguments: &RunArguments<'_>, path: &Path) -> anyhow::Result<Prepared> {
    if arguments.workflow != WORKFLOW {
        return Err(usage(format!(
            "--config belongs to the workflow `{WORKFLOW}` and cannot be used with the workflow `{}`",
            arguments.workflow
        )));
    }
    let columns = arguments.options.get_many::<String>(COLUMNS).into_iter().flatten();
    let config = Config::read(path).and_then(|config| config.with_columns(columns)).map_err(usage)?;
    let beside = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = beside.canonicalize().map_err(|error| usage(format!("{}: {error}", beside.display())))?;
    let today = jiff::Zoned::now().date();
    let output = arguments.output_dir.map(std::path::absolute).transpose()?;
    let described = config.prepare(&beside, output.as_deref(), today);
    described.check().map_err(usage)?;
    save::check(&described.output).map_err(usage)?;
    let mut made = MadeFolders::default();
    for folder in [&described.data, &described.output] {
        made.make(folder).map_err(|error| usage(format!("{}: {error}", folder.display())))?;
    }
    for notice in described.notices.iter().cloned().chain(save::earlier_run_notice(&described.output)) {
        print_message_lines(&Paint::stderr().message(&format!("Note: {notice}."), 2));
    }
    report_unread_data(&described);
    let config = described.config();
    let RunSetup { input, data: workspace, output, .. } = described;
    Ok(Prepared { input, workspace, config, output, made })
}

/// Reports training data that was not read, before the agents start: a day without its recording would look like a rest
/// day.
fn report_unread_data(described: &RunSetup) {
    let folder = described.data.display();
    match tools::not_read(&described.data, &described.input) {
        Ok(not_read) => {
            if not_read.refused == not_read.files {
                print_message(&format!(
                    "Note: {folder} contains no training data, so no metric can be computed."
                ));
            }
            if let Some(line) = unread::line(&not_read) {
                print_message_lines(&Paint::stderr().message(&format!("Training data: {line}."), 2));
            }
        }
        Err(error) => print_message(&format!("Note: the training data in {folder} cannot be read: {error}.")),
    }
}

impl RunSetup {
    /// Returns the settings of the coach's workflow that this run overrides.
    fn config(&self) -> RunConfig {
        RunConfig {
            model: self.model.clone(),
            asking: (!self.asks).then_some(AskingConfig { enabled: false }),
            without_tools: if self.plots { Vec::new() } else { vec![PLOTS.to_owned()] },
            ..RunConfig::default()
        }
    }
}

/// Writes the results of a coach run into the folder that the person chose, and prints the names of the files. Does
/// nothing for a run of another workflow.
pub(crate) async fn leave_files(client: &Client, run: &str, to: Files<'_>) {
    let Files { folder, rests, json } = to;
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
            let partial = if status == Status::Completed { "" } else { ", partial results" };
            let told =
                format!("  In {}{partial}: {}", plain::line(&folder.display().to_string()), names.join(", "));
            print_lines(&Paint::stdout().message(&told, 2));
        }
        Ok(_) => {}
        Err(why) => print_message(&format!("  The files of the run were not written: {}", error(&why))),
    }
}

/// Writes the commented template of `coach.yaml`. Never overwrites a file.
pub(crate) fn init(to: Option<&Path>) -> anyhow::Result<()> {
    let path = to.unwrap_or(Path::new(FILE));
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_lowercase();
    if !["yaml", "yml"].contains(&&*ending) {
        return Err(usage(format!("{}: the template is YAML; name a .yaml or .yml file", path.display())));
    }
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = made.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            usage(format!("{} already exists and was not changed", path.display()))
        }
        _ => usage(format!("{}: {error}", path.display())),
    })?;
    file.write_all(TEMPLATE.as_bytes())?;
    print_text(&path.display().to_string());
    print_message(&format!(
        "Edit this file, copy your training data to the folder `data` next to the file, and run: \
         {} run coach --config {}",
        holdshort(),
        path.display()
    ));
    Ok(())
}
