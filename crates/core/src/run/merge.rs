//! Merge: puts files that exist only in the layer of a run into the workspace. A merge is a run of its own with one
//! call. A person sees and releases its changes like any others.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Run;
use super::undo::{NotUndone, OneCall, TASK_BYTES, one_call, released_by};
use crate::definition::Definition;
use crate::id::RunId;
use crate::interrupt::KEEP_SOME;
use crate::text::clip;

/// Workflow of runs that merge the layer of another run.
pub const WORKFLOW: &str = "merge";
/// Tool of the single call. No agent has it.
pub const TOOL: &str = "merge_changes";

/// Input of a merge, and arguments of its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Title for people.
    pub task: String,
    /// Run whose layer is merged.
    pub run: RunId,
    /// Files and folders to merge. Empty means the whole layer.
    pub paths: BTreeSet<String>,
}

impl Arguments {
    /// Returns the arguments of a merge of these paths.
    pub fn new(of: &Run, paths: BTreeSet<String>) -> Self {
        let task = of.task();
        let first = task.lines().map(str::trim).find(|line| !line.is_empty());
        let task = format!("Merge: {}", clip(first.unwrap_or(of.id.as_str()), TASK_BYTES));
        Self { task, run: of.id.clone(), paths }
    }
}

/// Returns the workflow of a merge. Its approvers are those of every phase of the run.
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
