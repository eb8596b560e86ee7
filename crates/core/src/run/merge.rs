//! Merge: copies files that exist only in a run's private layer into the workspace. A merge is a separate run with a
//! single call. A person reviews and approves this call like any other call.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Run;
use super::undo::{NotUndone, OneCall, TASK_BYTES, one_call, released_by};
use crate::definition::Definition;
use crate::id::RunId;
use crate::interrupt::KEEP_SOME;
use crate::text::clip;

/// Name of the workflow of runs that merge another run's private layer into the workspace.
pub const WORKFLOW: &str = "merge";
/// Tool of the single call in a run that merges another run's private layer. No agent has this tool.
pub const TOOL: &str = "merge_changes";

/// Input of a run that merges another run's private layer, and arguments of its single tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Title of the run that merges another run's private layer, for people.
    pub task: String,
    /// Run whose private layer is merged: ignored files that only this run sees.
    pub run: RunId,
    /// Files and directories of the private layer to merge. If the set is empty, the whole private layer is merged.
    pub paths: BTreeSet<String>,
}

impl Arguments {
    pub fn new(of: &Run, paths: BTreeSet<String>) -> Self {
        let task = of.task();
        let first = task.lines().map(str::trim).find(|line| !line.is_empty());
        let task = format!("Merge: {}", clip(first.unwrap_or(of.id.as_str()), TASK_BYTES));
        Self { task, run: of.id.clone(), paths }
    }
}

/// Returns the workflow of a run that merges another run's private layer. The approvers of a merge are the approvers of
/// an undo of all phases.
pub fn definition(of: &Definition) -> Result<Definition, NotUndone> {
    let phases = of.phases.iter().map(|phase| phase.id.clone()).collect();
    let input = json!({
        "type": "object",
        "properties": {
            "task": { "type": "string" },
            "run": { "type": "string" },
            "paths": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["task", "run", "paths"],
        "additionalProperties": false,
    });
    Ok(one_call(OneCall {
        workflow: WORKFLOW,
        tool: TOOL,
        description: "Copies ignored files of a run into its workspace.",
        input,
        labels: [
            ("approve", "Merge the files"),
            (KEEP_SOME, "Merge some of them"),
            ("reject", "Leave them with the run"),
        ],
        assignment: released_by(of, &phases)?,
    }))
}
