//! Computes the changes that a merge makes: compares the layer of a run on this node with the workspace of the run.

use std::path::PathBuf;

use holdshort_core::run::merge::Arguments;
use holdshort_core::tool::{TrialOutcome, TrialResult};
use holdshort_tools::Tools;
use serde::Deserialize;
use serde_json::{Value, json};

use super::bodies::Bodies;
use super::layers;
use super::trial::{NotKept, keep};

/// Returns the changes that a merge would make to the workspace in its current state.
pub(super) async fn try_merge(
    tools: Tools,
    bodies: Bodies,
    data: PathBuf,
    arguments: &Value,
) -> TrialOutcome {
    let arguments = match Arguments::deserialize(arguments) {
        Ok(arguments) => arguments,
        Err(e) => {
            return TrialOutcome::Impossible { why: format!("the arguments of the merge are invalid: {e}") };
        }
    };
    let worked_out = tokio::task::spawn_blocking(move || {
        let merge = match tools.merge(&layers::for_run(&data, &arguments.run), &arguments.paths) {
            Ok(merge) => merge,
            Err(e) => return TrialOutcome::Impossible { why: format!("the files cannot be merged: {e}") },
        };
        match keep(merge, &bodies) {
            Ok(yielded) => TrialOutcome::Yielded(with_description(yielded, &arguments)),
            Err(NotKept::Changed) => TrialOutcome::Changed { paths: Vec::new() },
            Err(NotKept::Store(why)) => {
                TrialOutcome::Impossible { why: format!("the files of the merge could not be stored: {why}") }
            }
        }
    });
    match worked_out.await {
        Ok(tried) => tried,
        Err(e) => TrialOutcome::Impossible { why: format!("the merge could not be computed: {e}") },
    }
}

fn with_description(mut yielded: TrialResult, arguments: &Arguments) -> TrialResult {
    let files = yielded.changeset.changes().iter().filter(|change| change.is_of_content()).count();
    yielded.text = match files {
        0 => format!("The workspace already has all files to merge from {}.", arguments.run),
        1 => "1 file is merged into the workspace.".to_owned(),
        n => format!("{n} files are merged into the workspace."),
    };
    yielded.card["merge"] = json!({ "run": arguments.run, "paths": arguments.paths });
    yielded
}
