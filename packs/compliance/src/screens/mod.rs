//! The compliance crew's part of the command `holdshort run`: starts a run for the folder of a case, and writes the
//! released report as files.

mod save;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Arg, value_parser};
use holdshort_cli::kit::{
    Client, MadeFolders, Paint, error, holdshort, print_lines, print_message, print_message_lines,
    print_text, quoted, usage,
};
use holdshort_cli::pack::{Files, Prepared, RunArguments, Start};
use holdshort_protocol::{Run, RunConfig, Status, plain};
use serde_json::{Map, Value};

use crate::casework::{OWN_RULES, Rules, overview, warnings};
use crate::tools::{CaseError, PreparedCase, prepare_case};
use crate::{WORKFLOW, workflow};

/// Default name of the folder that is created for the sample case.
const FOLDER: &str = "case";

/// Id of the option that the crew adds to the command `holdshort run`.
const CASE: &str = "case";

pub(crate) fn options() -> Vec<Arg> {
    let case = Arg::new(CASE).long("case").value_name("FOLDER").value_parser(value_parser!(PathBuf));
    vec![
        case.help(
            "Only for `compliance`: folder that contains transactions.csv, customers.csv and watchlist.csv",
        )
        .conflicts_with_all(["input", "workspace"]),
    ]
}

/// Prepares `holdshort run --case`. Returns `None` without `--case`. Reads the case before the run starts, so that its
/// problems are reported at once.
pub(crate) fn start(arguments: &RunArguments<'_>) -> anyhow::Result<Option<Start>> {
    let Some(folder) = arguments.options.get_one::<PathBuf>(CASE) else { return Ok(None) };
    if arguments.workflow != WORKFLOW {
        return Err(usage(format!(
            "--case belongs to the workflow `{WORKFLOW}` and cannot be used with the workflow `{}`",
            arguments.workflow
        )));
    }
    let case = folder.canonicalize().map_err(|error| usage(format!("{}: {error}", folder.display())))?;
    let output = arguments.output_dir.map(std::path::absolute).transpose()?;
    let output = output.unwrap_or_else(|| case.join("report"));
    save::check(&output).map_err(usage)?;
    let asked = arguments.task.map(Value::from);
    let inputs: Map<String, Value> = asked.iter().map(|asked| ("task".to_owned(), asked.clone())).collect();
    let begun = prepare_case(&case, "folder", inputs).map_err(|error| match error {
        CaseError::Nothing => usage(format!(
            "{} contains no case: transactions.csv, customers.csv and watchlist.csv are missing; \
             `{} init {WORKFLOW}` writes a sample",
            folder.display(),
            holdshort()
        )),
        CaseError::Wrong(problems) => {
            usage(format!("the case in {} has problems\n{problems}", folder.display()))
        }
        CaseError::Unreadable(error) => usage(format!("{}: {error}", folder.display())),
        CaseError::NoDay => usage(format!("the day of the case {error}")),
    })?;
    let PreparedCase { loaded, input } = begun;
    let paint = Paint::stderr();
    let counted = overview(&loaded.case, &loaded.rules);
    print_message_lines(&paint.message(&format!("Case: {}.", counted[..2].join("; ")), 2));
    for warning in warnings(&loaded.case) {
        print_message_lines(&paint.message(&format!("Warning: {warning}"), 2));
    }
    if loaded.rules.are_own {
        print_message_lines(&paint.message(
            &format!("Note: the case has its own {OWN_RULES}, so its report always waits for your approval."),
            2,
        ));
    }
    if asked.is_some_and(|asked| input.get("task") != Some(&asked)) {
        print_message_lines(&paint.message(
            "Note: your question names a person. Agents see the person's number instead of the name.",
            2,
        ));
    }
    let made = MadeFolders::default();
    let config = RunConfig::default();
    let prepared = Prepared { input: input.into(), workspace: case, config, output, made };
    Ok(Some(Start::Run(Box::new(prepared))))
}

/// Writes the report of a completed compliance run. Does nothing for a run of another workflow.
pub(crate) async fn leave_files(client: &Client, run: &str, to: Files<'_>) {
    let Files { folder, json, rests: _ } = to;
    let written = match client.get::<Run>(&format!("/v1/runs/{run}")).await {
        Ok(run) if run.workflow != WORKFLOW => return,
        Ok(run) if run.status == Status::Completed => save::save(client, &run, folder).await,
        Ok(_) if json => return,
        Ok(_) => {
            print_message("  No file was written: the report was not released.");
            return;
        }
        Err(error) => Err(error),
    };
    match written {
        Ok(names) if !json => {
            let shown = folder.display().to_string();
            let told = format!("  In {}: {}", plain::line(&shown), names.join(", "));
            print_lines(&Paint::stdout().message(&told, 2));
        }
        Ok(_) => {}
        Err(why) => print_message(&format!("  The files of the run were not written: {}", error(&why))),
    }
}

/// Writes the sample case and the rules into a new folder, in which a person can replace them.
pub(crate) fn init(to: Option<&Path>) -> anyhow::Result<()> {
    let folder = to.unwrap_or(Path::new(FOLDER));
    let shown = folder.display();
    fs::create_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => usage(format!("{shown} already exists and was not changed")),
        _ => usage(format!("{shown}: {error}")),
    })?;
    let files = workflow::SHIPPED.iter().flat_map(|shipped| shipped.sample);
    let example = ("rules.example.yaml", Rules::text().as_bytes());
    for (name, bytes) in files.copied().chain([example]) {
        let made = OpenOptions::new().write(true).create_new(true).open(folder.join(name));
        made.and_then(|mut file| file.write_all(bytes))
            .map_err(|error| usage(format!("{}: {error}", folder.join(name).display())))?;
    }
    print_text(&shown.to_string());
    print_message(&format!(
        "Replace the tables of the sample with yours, and run: {} run {WORKFLOW} --case {} \"question\"",
        holdshort(),
        quoted(&shown.to_string())
    ));
    print_message(&format!(
        "To change a threshold, copy rules.example.yaml to {OWN_RULES} and edit {OWN_RULES}. With your own \
         rules, every report waits for a person's approval."
    ));
    Ok(())
}
