//! `workflows`: lists the workflows that can be started, and checks workflow files.

use std::path::{Path, PathBuf};

use holdshort_core::people::{People, PeopleSource};
use holdshort_protocol::{Person, PersonSource, Workflow, plain};
use serde_json::{Value, json};

use super::Scene;
use crate::data_dir::DataDir;
use crate::exit::{Exit, usage};
use crate::output::{print_json, print_lines, print_message, print_text};
use crate::terminal::paint::Paint;

pub(super) async fn workflows(scene: &Scene) -> anyhow::Result<Exit> {
    let items = scene.client()?.list("/v1/workflows", &[]).await?;
    if scene.json {
        print_json(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    for item in items {
        let workflow: Workflow = serde_json::from_value(item)?;
        let rehearsal = if workflow.rehearsal { paint.dim("  (has a rehearsal)") } else { String::new() };
        print_text(&format!("{}{rehearsal}", paint.bold(&plain::line(&workflow.name))));
        for (label, text) in [
            ("", workflow.description.clone()),
            ("agents: ", workflow.agents.join(", ")),
            ("phases: ", workflow.phases.join(" → ")),
            ("tools: ", workflow.tools.join(", ")),
        ] {
            if !text.trim().is_empty() {
                let text = format!("{label}{}", plain::line(text.trim()));
                let options =
                    textwrap::Options::new(paint.width).initial_indent("    ").subsequent_indent("    ");
                print_lines(&textwrap::wrap(&text, options));
            }
        }
    }
    Ok(Exit::Ok)
}

/// Checks workflow files. Problems in the files are the result of the command, so they go to standard output, one per
/// line.
pub(super) async fn check(scene: &Scene, paths: &[PathBuf], file: Option<&Path>) -> anyhow::Result<Exit> {
    let wrong = |error: holdshort_server::WorkflowsError| usage(error.to_string());
    let given = match file {
        Some(file) => Some(People::listed(&holdshort_server::people(file).map_err(wrong)?)),
        None => of_server(scene).await,
    };
    let is_given = given.is_some();
    let people = given.unwrap_or_default();
    let mut files: Vec<String> = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        let checked =
            holdshort_server::check_workflows(path, &people, &scene.packs.for_server()).map_err(wrong)?;
        files.extend(checked.files);
        problems.extend(checked.problems);
    }
    if scene.json {
        let told: Vec<Value> = problems
            .iter()
            .map(|problem| {
                json!({
                    "file": problem.file, "line": problem.line, "column": problem.column, "path": problem.path,
                    "message": problem.message, "suggestion": problem.suggestion,
                })
            })
            .collect();
        print_json(&json!({ "files": files, "problems": told }))?;
    } else {
        for problem in &problems {
            print_text(&plain::line(&problem.to_string()));
        }
        for file in files.iter().filter(|file| problems.iter().all(|problem| problem.file != **file)) {
            print_text(&format!("{}: no problems found", plain::line(file)));
        }
        if !is_given && problems.iter().any(|problem| problem.path.starts_with("gates")) {
            print_message(NOBODY_GIVEN);
        }
    }
    Ok(if problems.is_empty() { Exit::Ok } else { Exit::Usage })
}

const NOBODY_GIVEN: &str = "No people are configured, so approvers were checked as if only the operator decides. \
    To check with your people, add --people FILE, or start the server that stores them.";

/// Returns the people of the running server. Returns `None` if no server runs, or if the server does not list its
/// people.
async fn of_server(scene: &Scene) -> Option<People> {
    let listens =
        || DataDir::resolve(scene.reach.data.as_deref()).is_ok_and(|data| data.listening().is_some());
    if scene.reach.server.is_none() && !listens() {
        return None;
    }
    match read_people(scene).await {
        Ok(people) => Some(people),
        Err(error) => {
            print_message(&format!(
                "The people of the server cannot be read, so the check does not consider them: {}",
                crate::output::error(&error)
            ));
            None
        }
    }
}

pub(super) async fn read_people(scene: &Scene) -> anyhow::Result<People> {
    let mut people: Vec<(String, holdshort_core::people::Person)> = Vec::new();
    for item in scene.client()?.list("/v1/people", &[]).await? {
        let Person { id, roles, groups, source, .. } = serde_json::from_value(item)?;
        // The operator of a data folder always exists.
        if !matches!(source, PersonSource::Local) {
            let person = json!({"roles": roles, "groups": groups, "source": PeopleSource::Api});
            people.push((id, serde_json::from_value(person)?));
        }
    }
    Ok(People::from_entries(&people))
}
