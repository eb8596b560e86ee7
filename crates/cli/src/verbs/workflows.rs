//! `workflows`: what can be started, and whether files are right.

use std::path::{Path, PathBuf};

use holdshort_core::system::people::People;
use holdshort_protocol::{Workflow, plain};
use serde_json::{Value, json};

use super::Scene;
use crate::exit::{Exit, usage};
use crate::output::{document, say, say_all};
use crate::terminal::paint::Paint;

pub(super) async fn workflows(scene: &Scene) -> anyhow::Result<Exit> {
    let items = scene.client()?.list("/v1/workflows", &[]).await?;
    if scene.json {
        document(&items)?;
        return Ok(Exit::Ok);
    }
    let paint = Paint::stdout();
    for item in items {
        let workflow: Workflow = serde_json::from_value(item)?;
        let rehearsal = if workflow.rehearsal { paint.dim("  (has a rehearsal)") } else { String::new() };
        say(&format!("{}{rehearsal}", paint.bold(&plain::line(&workflow.name))));
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
                say_all(&textwrap::wrap(&text, options));
            }
        }
    }
    Ok(Exit::Ok)
}

/// What is wrong is the answer, so it goes to standard output, one problem a line as compilers have it.
pub(super) fn check(scene: &Scene, paths: &[PathBuf], people: Option<&Path>) -> anyhow::Result<Exit> {
    let wrong = |error: holdshort_server::WorkflowsError| usage(error.to_string());
    let people = people.map(holdshort_server::people).transpose().map_err(wrong)?.unwrap_or_default();
    let people = People::listed(&people);
    let mut files: Vec<String> = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        let checked = holdshort_server::check_workflows(path, &people).map_err(wrong)?;
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
        document(&json!({ "files": files, "problems": told }))?;
    } else {
        for problem in &problems {
            say(&plain::line(&problem.to_string()));
        }
        for file in files.iter().filter(|file| problems.iter().all(|problem| problem.file != **file)) {
            say(&format!("{}: nothing is wrong", plain::line(file)));
        }
    }
    Ok(if problems.is_empty() { Exit::Ok } else { Exit::Usage })
}
