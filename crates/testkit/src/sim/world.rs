//! The simulated world in which tools work: one directory of files, a command line, and the jobs that are running.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::digest::Digest;
use holdshort_core::id::RunId;
use holdshort_core::run::{ActionId, Input};
use holdshort_core::tool::{Inspection, InspectionOutcome, Outcome, Precondition, SandboxLevel};
use holdshort_engine::{Deliver, Job, Work};
use serde_json::{Value, json};

use super::check::Effect;
use super::choices::Choices;
use super::models;
use super::mutants::Mutant;
use super::node::NodeId;
use super::site::Site;
use super::trials::Writing;

pub(super) const WORKSPACE: &str = "/w";

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each flag selects a feature")]
pub(super) struct World {
    pub(super) files: BTreeMap<String, String>,
    pub(super) jobs: Vec<RunningJob>,
    /// Simulated jobs that were aborted. No node is waiting for the result of such a job.
    pub(super) aborted: Vec<(NodeId, RunId, ActionId)>,
    /// Actions that a simulated person has requested to stop.
    pub(super) stopped: BTreeSet<(RunId, ActionId)>,
    /// Number of texts that were made so far in the simulation. With this number, each text is different from all
    /// others.
    written: u64,
    /// All texts that a simulated tool was asked to write, by their digests.
    pub(super) kept: BTreeMap<Digest, String>,
    /// True if simulated commands run as trials before they change files, and file tools propose changesets: see
    /// [`super::TRIALS_FROM`].
    pub(super) plays_trials: bool,
    /// True if simulated tools write only three different texts, so that the same text occurs often.
    pub(super) same_texts: bool,
    /// True if replies of simulated models can break off, agents can end their work in all possible ways, and edits are
    /// checked: see [`super::ENDINGS_FROM`].
    pub(super) plays_endings: bool,
    /// True if simulated agents can ask in all possible ways: see [`super::QUESTIONS_FROM`].
    pub(super) plays_questions: bool,
}

#[derive(Clone)]
pub(super) struct RunningJob {
    pub(super) node: NodeId,
    pub(super) job: Job,
    pub(super) deliver: Deliver,
    /// Progress of writing a changeset to the simulated files, if the running job does this.
    pub(super) writing: Writing,
}

impl World {
    pub(super) fn begin(&mut self, node: NodeId, job: Job, deliver: Deliver) {
        self.jobs.push(RunningJob { node, job, deliver, writing: Writing::default() });
    }

    pub(super) fn abort(&mut self, node: NodeId, run: &RunId, action: &ActionId) {
        self.jobs.retain(|held| held.node != node || held.job.run != *run || held.job.action != *action);
        self.aborted.push((node, run.clone(), action.clone()));
    }

    pub(super) fn state(&self, path: &str) -> Precondition {
        let sha256 = self.files.get(path).map(|content| Digest::of_bytes(content.as_bytes()));
        Precondition { path: path.to_owned(), sha256 }
    }

    /// Returns a text for a simulated tool to write, different from all earlier ones. If `same_texts` is true, returns
    /// one of only three texts.
    pub(super) fn text(&mut self) -> String {
        self.written += 1;
        let many = if self.same_texts { 3 } else { u64::MAX };
        format!("text {}", self.written % many)
    }

    /// Changes a simulated file in the way in which a program outside all runs would do it.
    pub(super) fn change(&mut self, path: &str) {
        let text = self.text();
        self.files.insert(path.to_owned(), text);
    }

    fn inspect(&mut self, tool: &str, arguments: &Value) -> InspectionOutcome {
        let path = arguments["path"].as_str().unwrap_or_default();
        if path.contains("..") {
            return InspectionOutcome::Impossible {
                code: "outside",
                message: "outside the workspace".to_owned(),
            };
        }
        InspectionOutcome::Ready(Inspection {
            workspace: WORKSPACE.to_owned(),
            cwd: WORKSPACE.to_owned(),
            preconditions: if tool == "write_file" { vec![self.state(path)] } else { Vec::new() },
            sandbox: (tool == "run_command").then_some(SandboxLevel::Full),
            ask_because: if path == "linked" { vec!["hard_link".to_owned()] } else { Vec::new() },
            places: Vec::new(),
            proposed: (tool == "write_file" && self.plays_trials).then(|| Box::new(self.proposed(arguments))),
            card: json!({}),
        })
    }
}

impl Site {
    pub(super) fn work(&mut self, job: &Job, choices: &mut Choices) -> Input {
        match &job.work {
            Work::Inspect { call, revision, tool, arguments } => Input::Inspected {
                call: call.clone(),
                revision: *revision,
                inspected: self.world.inspect(tool, arguments),
            },
            Work::Try { call, attempt, tool, arguments, preconditions } => {
                let tried = self.try_on(tool, arguments, preconditions, choices);
                Input::Tried { call: call.clone(), attempt: *attempt, tried }
            }
            // Writes all paths at once. `write_on` writes one path per turn instead.
            Work::Commit { call, attempt, .. } => {
                let mut writing = Writing::default();
                let outcome = loop {
                    if let Some(outcome) = self.write_on(job, &mut writing) {
                        break outcome;
                    }
                };
                Input::Ran { call: call.clone(), attempt: *attempt, outcome }
            }
            Work::CallTool { call, attempt, .. } => {
                let outcome = self.run(job, choices);
                Input::Ran { call: call.clone(), attempt: *attempt, outcome }
            }
            Work::CallModel { turn, .. }
                if self.world.stopped.contains(&(job.run.clone(), job.action.clone()))
                    && choices.one_in(2) =>
            {
                let text = if choices.one_in(2) { "Half a".to_owned() } else { String::new() };
                Input::Stopped { step: job.step.clone(), turn: *turn, text }
            }
            Work::CallModel { turn, request } => {
                models::answer(&job.step, *turn, request, &mut self.world, choices)
            }
        }
    }

    fn run(&mut self, job: &Job, choices: &mut Choices) -> Outcome {
        let Work::CallTool { call, attempt, tool, arguments, preconditions, .. } = &job.work else {
            return Outcome::Failed { text: "this is no call".to_owned() };
        };
        let mut arguments = arguments.clone();
        if self.mutant == Some(Mutant::RunSomethingElse) && tool == "run_command" {
            arguments["command"] = json!("make something else");
        }
        let changed: Vec<String> = preconditions
            .iter()
            .filter(|shown| self.world.state(&shown.path) != **shown)
            .map(|shown| shown.path.clone())
            .collect();
        let believes = self.mutant == Some(Mutant::BelieveWhatWasShown);
        if !changed.is_empty() && !believes {
            return Outcome::Changed { paths: changed };
        }
        let is_stopped = self.world.stopped.contains(&(job.run.clone(), job.action.clone()));
        let stopped = || Outcome::Stopped { text: "killed".to_owned(), data: Value::Null };
        if is_stopped && choices.one_in(2) {
            return stopped();
        }
        let text = |name: &str| arguments[name].as_str().unwrap_or_default().to_owned();
        match tool.as_str() {
            "read_file" => {
                return match self.world.files.get(&text("path")) {
                    Some(content) => Outcome::Done { text: content.clone(), data: Value::Null },
                    None => Outcome::Failed { text: "no such file".to_owned() },
                };
            }
            "write_file" => {
                self.world.files.insert(text("path"), text("content"));
                self.witness.overwritten(&text("path"));
            }
            _ if text("command").starts_with("./do") => {
                for change in self.world.between(&text("command")).changes() {
                    self.world.put(change);
                    self.witness.overwritten(&change.path);
                }
            }
            _ if choices.one_in(8) => return Outcome::Failed { text: "it could not be started".to_owned() },
            _ => {}
        }
        let effect = Effect {
            call: call.clone(),
            attempt: *attempt,
            tool: tool.clone(),
            arguments,
            preconditions: preconditions.clone(),
            as_shown: changed.is_empty(),
        };
        self.witness.happened(&job.run, &job.action, &self.leases, effect);
        // The tool was killed after it had completed its side effect.
        if is_stopped && choices.one_in(2) {
            return stopped();
        }
        Outcome::Done { text: "done".to_owned(), data: Value::Null }
    }
}
