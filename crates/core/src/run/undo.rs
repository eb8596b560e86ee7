//! Undo: reverts the committed changes of a run. An undo is a separate run with a single call. A person reviews and
//! approves this call like any other call. An undo can itself be undone.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call_changes::some;
use super::gating::title;
use super::{Call, CallChanges, CallEnd, CallState, Fact, Run};
use crate::asking::Asking;
use crate::changeset::{Changeset, Composed, Entry};
use crate::definition::{Definition, Gates, KindGate, Limits, Phase, PhaseKind, StepGates};
use crate::digest::Digest;
use crate::envelope::Content;
use crate::id::RunId;
use crate::interrupt::{Assignment, KEEP_SOME, Kind, Stage};
use crate::limits;
use crate::session;
use crate::text::clip;
use crate::tool::{Category, CommandEffect, Effect, OnCrash, Runs, Spec};
use crate::web::Web;

/// Name of the workflow of runs that undo other runs.
pub const WORKFLOW: &str = "undo";
/// Maximum number of bytes that the title of an undo quotes from the task of the run whose changes are undone.
pub(super) const TASK_BYTES: usize = 120;
/// Tool of the single call in a run that undoes another run's changes. No agent has this tool.
pub const TOOL: &str = "undo_changes";

/// Input of a run that undoes another run's changes, and arguments of its single tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Title of the run that undoes another run's changes, for people. [`Arguments::task`] makes the title.
    pub task: String,
    /// Run whose changes the undo reverts.
    pub run: RunId,
    /// Sequence number of an event of the run whose changes the undo reverts. Changes after this event are reverted. 0
    /// reverts all changes.
    pub to: u64,
    /// Digest of the changes with which the undo is done, an [`Undo`] as canonical JSON. The journal stores the JSON
    /// separately, under this digest.
    pub changes: Digest,
    /// Sequence number that the last event of the run to undo had when the undo was computed. 0 if an earlier version
    /// of Holdshort computed the undo.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub seen: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Arguments {
    /// Returns the title of an undo. The title contains the first line of the task of the run to undo, or the id of
    /// this run if the run has no task.
    pub fn task(run: &Run, to: u64) -> String {
        let after = if to == 0 { String::new() } else { format!(" after event {to}") };
        let task = run.task();
        let first = task.lines().map(str::trim).find(|line| !line.is_empty());
        format!("Undo{after}: {}", clip(first.unwrap_or(run.id.as_str()), TASK_BYTES))
    }

    fn from_run(run: &Run) -> Option<Self> {
        Self::from_input(&run.definition, &run.started.as_ref()?.input)
    }

    /// Returns the arguments of the undo run that starts with the input `input`. `None` if the workflow is not the undo
    /// workflow.
    pub(super) fn from_input(workflow: &Definition, input: &Value) -> Option<Self> {
        if workflow.name != WORKFLOW {
            return None;
        }
        serde_json::from_value(input.clone()).ok()
    }
}

/// Changes that revert the commits of a run, and a list of effects that these changes cannot revert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undo {
    pub changeset: Changeset,
    /// Paths that another program or a person changed between two commits of the run to undo. The undo also reverts
    /// these changes of others.
    pub mixed: Vec<String>,
    /// Tool calls whose changes are unknown: commands that ran without a trial, calls with an unknown outcome, and
    /// calls whose changeset was erased.
    pub unknown: Vec<String>,
    /// Phases of the tool calls that made the changes to undo. People who can approve calls of these phases can approve
    /// the undo.
    #[serde(default)]
    pub phases: BTreeSet<String>,
}

/// Reason why the changes of a run cannot be undone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUndone {
    #[error("the run has no event with this number")]
    UnknownEvent,
    #[error("the run is changing files; wait until its call has ended, or resume the run if it is paused")]
    AtWork,
    #[error("the run has made no change after the chosen point that can be undone")]
    Nothing,
    #[error("the record of the run's changes was erased, so the changes can no longer be undone")]
    Erased,
    #[error("none of the run's changes after the chosen point is still in place: they were already undone")]
    TakenBack,
    #[error(
        "no approver may approve all of the changes: the run's phases name different approvers; undo fewer \
         changes with `to`"
    )]
    NoCommonApprover,
    #[error("the run's workspace cannot be used: {0}")]
    NoWorkspace(String),
}

impl Run {
    /// Returns the changes that revert all commits of the run after the event with the sequence number `to`. The newest
    /// commit is reverted first.
    pub fn undo(&self, to: u64) -> Result<Undo, NotUndone> {
        if to > self.seq {
            return Err(NotUndone::UnknownEvent);
        }
        let calls = self.calls_in_order();
        if calls.iter().any(|(_, call)| self.is_at_work(call)) {
            return Err(NotUndone::AtWork);
        }
        let is_since = |at: Option<u64>| at.is_some_and(|at| at > to);
        let done: Vec<_> = self.committed().into_iter().filter(|(call, _)| is_since(call.ended_at)).collect();
        let is_untold = |call: &Call| is_since(call.untold_at) && self.may_write_files(call);
        let untold = calls.iter().map(|(_, call)| *call).filter(|call| is_untold(call));
        let erased = done.iter().filter(|(call, found)| found.changeset.is_none() && !is_untold(call));
        let unknown = untold.chain(erased.map(|(call, _)| *call)).map(title).collect();
        let commits: Vec<_> = done.iter().filter_map(|(_, found)| found.changeset.as_deref()).collect();
        let Composed { changeset, mixed } = Changeset::undoing(&commits);
        if changeset.is_empty() {
            let is_erased = !done.is_empty() && self.erased.is_some();
            return Err(if is_erased { NotUndone::Erased } else { NotUndone::Nothing });
        }
        let phase = |call: &Call| self.steps.get(&call.step).map(|step| step.phase.clone());
        let phases: Option<BTreeSet<String>> = done.iter().map(|(call, _)| phase(call)).collect();
        // If the phase of a call is unknown, approvers are chosen as if calls of all phases had made changes.
        let all = || self.definition.phases.iter().map(|phase| phase.id.clone()).collect();
        let phases = phases.unwrap_or_else(all);
        Ok(Undo { changeset, mixed, unknown, phases })
    }

    /// Returns the tool calls of the run that committed changes, the newest first.
    pub(super) fn committed(&self) -> Vec<(&Call, &CallChanges)> {
        let done = self.calls.values().filter(|call| call.state == CallState::Ended(CallEnd::Done));
        let mut done: Vec<(&Call, &CallChanges)> =
            done.filter_map(|call| Some((call, &**call.committing()?))).collect();
        done.sort_by_key(|(call, _)| std::cmp::Reverse(call.ended_at));
        done
    }

    /// Returns the fact that records in the session that the undo run reverted changes. `None` if `fact` is not the end
    /// of a tool call that reverted changes.
    pub(super) fn took_back(&self, fact: &Fact) -> Option<(session::Fact, Content)> {
        let Fact::ToolFinished { call, end: CallEnd::Done, .. } = fact else { return None };
        let call = self.calls.get(call).filter(|call| call.tool == TOOL)?;
        let of = serde_json::from_value::<Arguments>(call.arguments.clone()).ok()?;
        let changeset = call.committing()?.changeset.as_deref().filter(|changeset| !changeset.is_empty())?;
        let fact = session::Fact::ChangesUndone { run: of.run, by: self.id.clone() };
        Some((fact, Content::text(as_before(changeset))))
    }

    /// Returns true if a tool call is writing files, or if the server stopped in the middle of the call's commit.
    fn is_at_work(&self, call: &Call) -> bool {
        let is_begun = call.trial.commits > 0 && !call.is_ended();
        let is_doubted = matches!(call.state, CallState::Doubted(_));
        let is_started = matches!(call.state, CallState::Started { .. }) && self.writes(&call.tool);
        is_started || (is_begun && !is_doubted)
    }

    /// Returns true if a tool call possibly changed files of the workspace. Used for calls without a changeset, because
    /// a changeset lists the actual changes.
    fn may_write_files(&self, call: &Call) -> bool {
        self.runs_here(&call.tool) && self.writes(&call.tool) && call.effect != Some(CommandEffect::Reads)
    }
}

impl Undo {
    /// Returns true if the undo has nothing left to revert, because no path still has the content that the run `of`
    /// wrote. `since` lists the earlier undos of the run, and the undos of these undos, in the order of their commits.
    /// An undo in this list is ignored for paths that the run wrote again after the undo was computed.
    pub fn is_taken_back(&self, of: &Run, since: &[&Run]) -> bool {
        let mut written: BTreeMap<&str, u64> = BTreeMap::new();
        for (call, found) in of.committed() {
            for change in found.changeset.iter().flat_map(|changeset| changeset.changes()) {
                written.entry(&change.path).or_insert(call.ended_at.unwrap_or(u64::MAX));
            }
        }
        let mut stands: BTreeMap<&str, &Option<Entry>> =
            self.changeset.changes().iter().map(|change| (change.path.as_str(), &change.before)).collect();
        let mut seen: BTreeMap<&RunId, u64> = BTreeMap::new();
        for by in since {
            let Some(arguments) = Arguments::from_run(by) else { continue };
            let until = seen.get(&arguments.run).copied().unwrap_or(arguments.seen);
            seen.insert(&by.id, until);
            for change in by
                .committed()
                .iter()
                .filter_map(|(_, found)| found.changeset.as_deref())
                .flat_map(Changeset::changes)
            {
                let is_newer = written.get(change.path.as_str()).is_some_and(|at| *at <= until);
                if let Some(stands) = stands.get_mut(change.path.as_str()).filter(|_| is_newer) {
                    *stands = &change.after;
                }
            }
        }
        self.changeset
            .changes()
            .iter()
            .all(|change| stands.get(change.path.as_str()) != Some(&&change.before))
    }
}

/// Returns the result text of a completed undo. The approver may have excluded some of the changes.
pub(super) fn describe_result(found: &CallChanges) -> String {
    let changes = found.changeset.as_deref().map(Changeset::changes).unwrap_or_default();
    let done = match changes.iter().filter(|change| change.is_of_content()).count() {
        0 => "The folders are in their earlier state again.".to_owned(),
        1 => "1 file is in its earlier state again.".to_owned(),
        n => format!("{n} files are in their earlier state again."),
    };
    format!("{done} {}", found.text).trim_end().to_owned()
}

fn as_before(changeset: &Changeset) -> String {
    let paths: Vec<_> = changeset.counted().map(|change| format!("`{}`", change.path)).collect();
    format!("These paths are in their earlier state again: {}.", some(&paths))
}

/// Returns the approvers of an undo of changes that these phases made. Every approver must be allowed to approve the
/// calls of every phase. If the approvers of all phases are equal, the result is these approvers. Other phases are
/// combined as follows:
///
/// - All phases only name people and numbers of votes: the approvers are the people whom all phases name, with the
///   largest number of required votes.
/// - No phase has a condition other than the number of votes: the result has only the largest number.
/// - All other phases: the undo has the stages of all phases, one after the other.
///
/// Returns an error if too few people are named by all phases, or if there are too many stages.
pub(super) fn released_by(
    of: &Definition,
    phases: &BTreeSet<String>,
) -> Result<Option<Assignment>, NotUndone> {
    let gates = of.phases.iter().filter(|phase| phases.contains(&phase.id));
    let mut assigned: Vec<Option<Assignment>> = Vec::new();
    for gate in gates.map(|phase| of.gate(Some(phase), Kind::ToolApproval)) {
        if !assigned.contains(&gate.assignment) {
            assigned.push(gate.assignment);
        }
    }
    if let [only] = assigned.as_slice() {
        return Ok(only.clone());
    }
    let assigned: Vec<Assignment> = assigned.into_iter().map(Option::unwrap_or_default).collect();
    let simple: Option<Vec<_>> = assigned.iter().map(Assignment::as_simple).collect();
    let simple = simple.filter(|all| {
        let named = all.iter().filter(|(names, _)| !names.is_empty()).count();
        named == 0 || named == all.len()
    });
    if let Some(simple) = simple {
        let quorum = simple.iter().map(|(_, quorum)| *quorum).max().unwrap_or(1);
        let mut named = simple.iter().map(|(names, _)| names.to_vec());
        let mut approvers = named.next().unwrap_or_default();
        let is_named = !approvers.is_empty();
        for names in named {
            approvers.retain(|name| names.contains(name));
        }
        let is_enough = !is_named || approvers.len() >= quorum.max(1) as usize;
        let common = Assignment::simple(approvers, quorum);
        return if is_enough { Ok(Some(common)) } else { Err(NotUndone::NoCommonApprover) };
    }
    let mut stages: Vec<Stage> = Vec::new();
    for stage in assigned.iter().flat_map(|one| &one.stages) {
        if !stages.contains(stage) {
            stages.push(stage.clone());
        }
    }
    if stages.len() > limits::STAGES {
        return Err(NotUndone::NoCommonApprover);
    }
    Ok(Some(Assignment {
        stages,
        // A person who is an approver of two phases may vote for both phases. If a phase requires different people for
        // its stages, the stages of that phase need different people.
        distinct: assigned.iter().any(|one| one.distinct && one.stages.len() > 1),
        self_approval: assigned.iter().all(|one| one.self_approval),
    }))
}

/// Returns the workflow of an undo of changes that these phases made. The workflow consists of one tool call, which a
/// person must always approve.
pub fn definition(of: &Definition, phases: &BTreeSet<String>) -> Result<Definition, NotUndone> {
    let input = json!({
        "type": "object",
        "properties": {
            "task": { "type": "string" },
            "run": { "type": "string" },
            "to": { "type": "integer", "minimum": 0 },
            "changes": { "type": "string" },
            "seen": { "type": "integer", "minimum": 0 },
        },
        "required": ["task", "run", "to", "changes"],
        "additionalProperties": false,
    });
    Ok(one_call(OneCall {
        workflow: WORKFLOW,
        tool: TOOL,
        description: "Undoes changes of a run in its workspace.",
        input,
        labels: [
            ("approve", "Undo the changes"),
            (KEEP_SOME, "Undo some of them"),
            ("reject", "Leave it as it is"),
        ],
        assignment: released_by(of, phases)?,
    }))
}

/// Parameters of a workflow that consists of one tool call. The call computes changes and executes no command.
pub(super) struct OneCall {
    pub workflow: &'static str,
    pub tool: &'static str,
    pub description: &'static str,
    /// JSON Schema of the run's input. The input of the run is passed to the workflow's only tool call as its
    /// arguments.
    pub input: Value,
    /// Ids of the options that the approval card of the workflow's only tool call offers, with their labels.
    pub labels: [(&'static str, &'static str); 3],
    pub assignment: Option<Assignment>,
}

/// Returns a workflow that consists of one tool call, which a person must always approve.
pub(super) fn one_call(wanted: OneCall) -> Definition {
    let OneCall { workflow, tool, description, input, labels, assignment } = wanted;
    let runs = Runs::Here { effect: Effect::Write, category: Category::FileWrite, on_crash: OnCrash::Ask };
    let spec =
        Spec { name: tool.to_owned(), description: description.to_owned(), parameters: input.clone(), runs };
    let gate = KindGate {
        options: labels.iter().map(|(option, _)| (*option).to_owned()).collect(),
        labels: labels.map(|(option, label)| (option.to_owned(), label.to_owned())).into(),
        assignment,
        ..KindGate::default()
    };
    Definition {
        name: workflow.to_owned(),
        description: description.to_owned(),
        input,
        agents: BTreeMap::new(),
        tools: [(tool.to_owned(), spec)].into(),
        phases: vec![Phase {
            id: workflow.to_owned(),
            kind: PhaseKind::Call { tool: tool.to_owned(), agent: None },
            needs: Vec::new(),
            input: None,
            gates: StepGates::default(),
            kinds: BTreeMap::new(),
            limits: Limits::default(),
        }],
        gates: Gates { kinds: [(Kind::ToolApproval, gate)].into(), trial: true, ..Gates::default() },
        limits: Limits::default(),
        asking: Asking::default(),
        models: BTreeMap::new(),
        network: false,
        web: Web::default(),
        result: None,
    }
}
