//! `hook status`: repeats every check of the installed hooks. Changes nothing.

use holdshort_protocol::plain;

use super::checks::{self, Report, State};
use super::coding_cli::CodingCli;
use super::files::{self, HookFolder};
use crate::args::HookStatus;
use crate::data_dir::DataDir;
use crate::exit::Exit;
use crate::output::{print_json, print_text};
use crate::program_name::holdshort;
use crate::terminal::paint::Paint;
use crate::verbs::Scene;

pub(super) async fn status(scene: &Scene, args: &HookStatus) -> anyhow::Result<Exit> {
    let mut reports = reports(scene).await?;
    if let Some(cli) = args.cli {
        reports.retain(|report| report.cli == cli);
    }
    if scene.json {
        print_json(&reports)?;
    } else {
        print_reports(&reports, args.cli);
    }
    let is_missing = args.cli.is_some() && reports.is_empty();
    let holds = !is_missing && reports.iter().all(|report| report.holds);
    Ok(if holds { Exit::Ok } else { Exit::Failed })
}

/// Checks all installed hooks.
pub(crate) async fn reports(scene: &Scene) -> anyhow::Result<Vec<Report>> {
    let hooks = HookFolder::in_data(&DataDir::resolve(scene.reach.data.as_deref())?);
    let mut reports = Vec::new();
    if !hooks.path.exists() {
        return Ok(reports);
    }
    let folders = files::settings_folders()?;
    for cli in CodingCli::ALL {
        reports.extend(checks::report(cli, &folders, &hooks).await?);
    }
    Ok(reports)
}

fn print_reports(reports: &[Report], cli: Option<CodingCli>) {
    let paint = Paint::stdout();
    if reports.is_empty() {
        let which = cli.map_or_else(|| "No hook is".to_owned(), |cli| format!("The hook of {cli} is not"));
        print_text(&format!(
            "{which} installed. `{} hook install {}` installs it.",
            holdshort(),
            cli.map_or("claude", CodingCli::word)
        ));
    }
    for report in reports {
        let state = if report.holds { "the hook holds" } else { "the hook does NOT hold" };
        print_text(&paint.bold(&format!("{}: {state}", report.cli)));
        for check in &report.checks {
            let mut mark = Some(match check.state {
                State::Good => paint.green("✓"),
                State::Warning => paint.yellow("–"),
                State::Bad => paint.red("✗"),
            });
            for line in paint.labelled(check.name, &plain::text(&check.text)) {
                print_text(&format!("{}{line}", mark.take().unwrap_or_else(|| " ".to_owned())));
            }
        }
    }
}
