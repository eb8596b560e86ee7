//! The compliance crew: a folder with a case becomes a run, and what was released of it becomes files.

mod save;

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use holdshort_casework::{OWN_RULES, Rules, overview};
use holdshort_protocol::{Run, Status, plain};
use holdshort_tools::{Beginning, NoCase, begin_on};
use holdshort_workflow::shipped;
use serde_json::{Map, Value};

use crate::args;
use crate::called::holdshort;
use crate::client::Client;
use crate::exit::{Exit, usage};
use crate::output::{say, say_all, tell, tell_all};
use crate::shell::quoted;
use crate::terminal::paint::Paint;

pub(super) const WORKFLOW: &str = "compliance";

/// A case that a run can start on.
pub(super) struct Prepared {
    pub input: Value,
    pub case: PathBuf,
    pub output: PathBuf,
}

/// What `--case` says, where it is there: read before anything starts, so that whatever is wrong with it is told.
pub(super) fn prepared(args: &args::Run) -> anyhow::Result<Option<Prepared>> {
    let Some(folder) = &args.case else { return Ok(None) };
    if args.workflow != WORKFLOW {
        return Err(usage(format!("--case is of the workflow `{WORKFLOW}`; `{}` has none", args.workflow)));
    }
    let case = folder.canonicalize().map_err(|error| usage(format!("{}: {error}", folder.display())))?;
    let output = args.output_dir.as_deref().map(std::path::absolute).transpose()?;
    let output = output.unwrap_or_else(|| case.join("report"));
    save::check(&output).map_err(usage)?;
    let asked = args.task.as_deref().map(Value::from);
    let said: Map<String, Value> = asked.iter().map(|asked| ("task".to_owned(), asked.clone())).collect();
    let begun = begin_on(&case, "folder", said).map_err(|error| match error {
        NoCase::Nothing => usage(format!(
            "{} holds no case: transactions.csv, customers.csv and watchlist.csv; `{} init {WORKFLOW}` writes a sample",
            folder.display(),
            holdshort()
        )),
        NoCase::Wrong(problems) => usage(format!("the case in {} is not whole\n{problems}", folder.display())),
        NoCase::Unreadable(error) => usage(format!("{}: {error}", folder.display())),
        NoCase::NoDay => usage(format!("the day of the case {error}")),
    })?;
    let Beginning { loaded, input } = begun;
    let paint = Paint::stderr();
    let counted = overview(&loaded.case, &loaded.rules);
    tell_all(&paint.message(&format!("Case: {}.", counted[..2].join("; ")), 2));
    if loaded.rules.are_own {
        tell_all(&paint.message(
            &format!("Note: the case has a {OWN_RULES} of its own, so its report is always held back."),
            2,
        ));
    }
    if asked.is_some_and(|asked| input.get("task") != Some(&asked)) {
        tell_all(&paint.message(
            "Note: who the question names has a number for the agents, as everybody in the case.",
            2,
        ));
    }
    Ok(Some(Prepared { input: input.into(), case, output }))
}

/// Writes what was released of a run that has completed. Of any other run nothing is written.
pub(super) async fn leave_files(client: &Client, run: &str, folder: &Path, json: bool) {
    let written = match client.get::<Run>(&format!("/v1/runs/{run}")).await {
        Ok(run) if run.workflow != WORKFLOW => return,
        Ok(run) if run.status == Status::Completed => save::save(client, &run, folder).await,
        Ok(_) if json => return,
        Ok(_) => {
            tell("  No file is written: nothing was released.");
            return;
        }
        Err(error) => Err(error),
    };
    match written {
        Ok(names) if !json => {
            let shown = folder.display().to_string();
            let told = format!("  In {}: {}", plain::line(&shown), names.join(", "));
            say_all(&Paint::stdout().message(&told, 2));
        }
        Ok(_) => {}
        Err(error) => tell(&format!("  Its files are not written: {}", crate::output::error(&error))),
    }
}

/// Writes the sample and the rules into a folder of their own, to edit.
pub(super) fn init(folder: &Path) -> anyhow::Result<Exit> {
    let shown = folder.display();
    fs::create_dir(folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => usage(format!("{shown} is there already, and is left as it is")),
        _ => usage(format!("{shown}: {error}")),
    })?;
    let sample = shipped().iter().find(|shipped| shipped.name == WORKFLOW);
    let files = sample.into_iter().flat_map(|sample| sample.sample);
    let example = ("rules.example.yaml", Rules::text().as_bytes());
    for (name, bytes) in files.copied().chain([example]) {
        let made = OpenOptions::new().write(true).create_new(true).open(folder.join(name));
        made.and_then(|mut file| file.write_all(bytes))
            .map_err(|error| usage(format!("{}: {error}", folder.join(name).display())))?;
    }
    say(&shown.to_string());
    tell(&format!(
        "Put your tables in the place of the sample's, and say: {} run {WORKFLOW} --case {} \"question\"",
        holdshort(),
        quoted(&shown.to_string())
    ));
    tell(&format!(
        "To change a threshold copy rules.example.yaml to {OWN_RULES}: the report is then always held back."
    ));
    Ok(Exit::Ok)
}
