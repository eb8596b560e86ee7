//! Undo: what a run has committed, taken back. It is a run of its own with one call, so that a person is shown the changes
//! and releases them like any other, and so that an undo can be undone.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::draft::clip;
use super::gating::title;
use super::{Call, CallEnd, CallState, Found, Run};
use crate::changeset::{Changeset, Composed};
use crate::definition::{Asking, Definition, Gates, KindGate, Limits, Phase, PhaseKind, StepGates};
use crate::digest::Digest;
use crate::id::RunId;
use crate::interrupt::{KEEP_SOME, Kind};
use crate::tool::{Category, CommandEffect, Effect, OnCrash, Runs, Spec};

/// The workflow of runs that take back what other runs did.
pub const WORKFLOW: &str = "undo";
/// Of the task of the other run.
const TASK_BYTES: usize = 120;
/// The tool of its one call. No agent has it.
pub const TOOL: &str = "undo_changes";

/// The input of an undo, and the arguments of its call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// What it is about, for people: see [`Arguments::task`].
    pub task: String,
    /// The run whose changes are taken back.
    pub run: RunId,
    /// The number of the event after which they were made; 0 for all of them.
    pub to: u64,
    /// Of the [`Undo`] as canonical JSON, which the journal keeps as it keeps files.
    pub changes: Digest,
}

impl Arguments {
    /// What an undo of this run is about, with the first words of what that run was to do.
    pub fn task(run: &Run, to: u64) -> String {
        let after = if to == 0 { String::new() } else { format!(" after event {to}") };
        let task = clip(run.task().lines().next().unwrap_or_default(), TASK_BYTES);
        format!("Undo what {} changed{after}: {task}", run.id)
    }
}

/// What takes back what a run has committed, and what it has done that can not be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    pub changeset: Changeset,
    /// Paths that somebody else changed between two commits of the run: what they were before is not only its own.
    pub mixed: Vec<String>,
    /// Calls whose changes are not known: commands that ran without a trial, and what nobody could tell the end of.
    pub unknown: Vec<String>,
}

/// Why there is nothing to take back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUndone {
    #[error("the run has no event of this number")]
    UnknownEvent,
    #[error("the run is changing files right now; pause it, or wait until its call has ended")]
    AtWork,
    #[error("the run has changed nothing since that can be taken back")]
    Nothing,
    #[error("its workspace can not be used: {0}")]
    NoWorkspace(String),
}

impl Run {
    /// Takes back what calls committed after the event `to`, the newest first.
    pub fn undo(&self, to: u64) -> Result<Undo, NotUndone> {
        if to > self.seq {
            return Err(NotUndone::UnknownEvent);
        }
        let is_at_work =
            |call: &Call| matches!(call.state, CallState::Started { .. }) && self.writes(&call.tool);
        if self.calls.values().any(|call| is_at_work(call)) {
            return Err(NotUndone::AtWork);
        }
        let doubted = self.calls.values().filter(|call| matches!(call.state, CallState::Doubted(_)));
        let mut unknown: Vec<String> = doubted.map(|call| title(call)).collect();
        let mut since: Vec<(u64, &Call)> = self
            .calls
            .values()
            .filter_map(|call| Some((call.ended_at?, &**call)))
            .filter(|it| it.0 > to)
            .collect();
        since.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
        let mut commits = Vec::new();
        for (_, call) in since {
            match call.committing() {
                Some(found) if call.state == CallState::Ended(CallEnd::Done) => {
                    match found.changeset.as_deref() {
                        Some(changeset) => commits.push(changeset),
                        None => unknown.push(title(call)),
                    }
                }
                _ if self.may_have_written(call) => unknown.push(title(call)),
                Some(_) | None => {}
            }
        }
        let Composed { changeset, mixed } = Changeset::undoing(&commits);
        if changeset.is_empty() {
            return Err(NotUndone::Nothing);
        }
        Ok(Undo { changeset, mixed, unknown })
    }

    /// Whether a call that was started may have changed files, with nothing that says which.
    fn may_have_written(&self, call: &Call) -> bool {
        let reads = call.effect == Some(CommandEffect::Reads);
        call.attempt > 0 && self.runs_here(&call.tool) && self.writes(&call.tool) && !reads
    }
}

/// What is said of an undo that is done: a person may have left out some of what was worked out.
pub(super) fn told(found: &Found) -> String {
    let changes = found.changeset.as_deref().map(Changeset::changes).unwrap_or_default();
    let done = match changes.iter().filter(|change| change.is_of_content()).count() {
        0 => "The folders are as they were before.".to_owned(),
        1 => "1 file is as it was before.".to_owned(),
        n => format!("{n} files are as they were before."),
    };
    format!("{done} {}", found.text).trim_end().to_owned()
}

/// The workflow of an undo: its one call, which always asks. The approvers are those that the other run's workflow names for
/// all of its phases, and the quorum is the largest of any phase; approvers of single phases do not count.
pub fn definition(of: &Definition) -> Definition {
    let usual = of.gate(None, Kind::ToolApproval);
    let quorum = of.phases.iter().filter_map(|phase| of.gate(Some(phase), Kind::ToolApproval).quorum).max();
    let input = json!({
        "type": "object",
        "properties": {
            "task": { "type": "string" },
            "run": { "type": "string" },
            "to": { "type": "integer", "minimum": 0 },
            "changes": { "type": "string" },
        },
        "required": ["task", "run", "to", "changes"],
        "additionalProperties": false,
    });
    let runs = Runs::Here { effect: Effect::Write, category: Category::FileWrite, on_crash: OnCrash::Ask };
    let description = "Takes back what a run has changed in its workspace.".to_owned();
    let spec =
        Spec { name: TOOL.to_owned(), description: description.clone(), parameters: input.clone(), runs };
    let gate = KindGate {
        options: ["approve", KEEP_SOME, "reject"].map(str::to_owned).to_vec(),
        labels: [
            ("approve", "Undo the changes"),
            (KEEP_SOME, "Undo some of them"),
            ("reject", "Leave it as it is"),
        ]
        .map(|(option, label)| (option.to_owned(), label.to_owned()))
        .into(),
        approvers: usual.approvers,
        quorum,
        ..KindGate::default()
    };
    Definition {
        name: WORKFLOW.to_owned(),
        description,
        input,
        agents: BTreeMap::new(),
        tools: [(TOOL.to_owned(), spec)].into(),
        phases: vec![Phase {
            id: WORKFLOW.to_owned(),
            kind: PhaseKind::Call { tool: TOOL.to_owned() },
            needs: Vec::new(),
            input: None,
            gates: StepGates::default(),
            kinds: BTreeMap::new(),
            limits: Limits::default(),
        }],
        gates: Gates { kinds: [(Kind::ToolApproval, gate)].into(), trial: true, ..Gates::default() },
        limits: Limits::default(),
        asking: Asking::default(),
        network: false,
    }
}
