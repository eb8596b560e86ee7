//! Freezes stop all work, or the work of a run, workflow or agent. During a freeze, no call starts and no deadline
//! takes effect. A freeze ends when a person lifts it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::RunId;
use crate::limits;
use crate::name::is_name;
use crate::schema::Problem;
use crate::time::Timestamp;

/// Part of the installation that can be frozen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Run(RunId),
    /// All runs of the workflow with this name.
    Workflow(String),
    /// Calls of the agent with this name, in any run. Also questions of the external agent with this name.
    Agent(String),
}

/// Freeze that is in effect, or its record in the journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    pub by: String,
    pub at: Timestamp,
    /// Reason for the freeze. `None` if the freeze was recorded by an earlier version, which did not require a reason.
    pub reason: Option<String>,
}

impl Freeze {
    /// Returns the reason in parentheses, for the end of a sentence that names the person and the time of the freeze.
    pub(super) fn why(&self) -> String {
        self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    }
}

/// Freezes that are currently active.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freezes {
    /// Freeze of the whole installation.
    pub all: Option<Freeze>,
    pub parts: BTreeMap<Part, Freeze>,
}

impl Freezes {
    pub fn for_part(&self, part: Option<&Part>) -> Option<&Freeze> {
        part.map_or(self.all.as_ref(), |part| self.parts.get(part))
    }

    /// Returns the freeze that stops all runs of a workflow: a freeze of the installation, or else of the workflow.
    pub fn of_workflow(&self, workflow: &str) -> Option<&Freeze> {
        self.all.as_ref().or_else(|| self.parts.get(&Part::Workflow(workflow.to_owned())))
    }

    /// Returns the freeze that stops a whole run: a freeze of the installation, or else of the workflow, or else of the
    /// run.
    pub fn for_run(&self, run: &RunId, workflow: &str) -> Option<&Freeze> {
        self.of_workflow(workflow).or_else(|| self.parts.get(&Part::Run(run.clone())))
    }

    /// Returns the freeze that stops a run, or stops the calls of an agent in the run, and the part that is frozen. Of
    /// several freezes, returns the freeze of the largest part. The part is `None` if the whole installation is frozen.
    pub fn holding(
        &self,
        run: &RunId,
        workflow: &str,
        agent: Option<&str>,
    ) -> Option<(Option<Part>, &Freeze)> {
        let whole = [Part::Workflow(workflow.to_owned()), Part::Run(run.clone())];
        let agent = agent.map(|agent| Part::Agent(agent.to_owned()));
        let mut parts = whole.into_iter().chain(agent);
        let of_part = || parts.find_map(|part| self.parts.get(&part).map(|freeze| (Some(part), freeze)));
        self.all.as_ref().map(|freeze| (None, freeze)).or_else(of_part)
    }

    pub fn of_agent(&self, agent: &str) -> Option<&Freeze> {
        self.parts.get(&Part::Agent(agent.to_owned()))
    }

    /// Returns true if at least one freeze in `before` is no longer in effect.
    pub fn lifts(&self, before: &Self) -> bool {
        (before.all.is_some() && self.all.is_none())
            || before.parts.keys().any(|part| !self.parts.contains_key(part))
    }

    pub(super) fn set(&mut self, part: Option<&Part>, freeze: Option<Freeze>) {
        match (part, freeze) {
            (None, freeze) => self.all = freeze,
            (Some(part), Some(freeze)) => {
                self.parts.insert(part.clone(), freeze);
            }
            (Some(part), None) => {
                self.parts.remove(part);
            }
        }
    }

    /// Checks a freeze that a person requests, and returns its problems.
    pub(super) fn check(&self, part: Option<&Part>, reason: &str) -> Vec<Problem> {
        let mut problems = check_reason(reason);
        let named = match part {
            Some(Part::Workflow(name)) => Some(("/workflow", name)),
            Some(Part::Agent(name)) => Some(("/agent", name)),
            Some(Part::Run(_)) | None => None,
        };
        if let Some((field, _)) = named.filter(|(_, name)| !is_name(name, limits::NAME_BYTES)) {
            problems.push(Problem::new(field, "is empty, too long, or contains invisible characters"));
        }
        let is_new = part.is_some_and(|part| !self.parts.contains_key(part));
        if is_new && self.parts.len() >= limits::FREEZES {
            let message = format!(
                "exceeds the limit of {} active freezes: lift a freeze, or freeze the installation",
                limits::FREEZES
            );
            problems.push(Problem::new("/reason", message));
        }
        problems
    }
}

/// Checks the reason for an action that stops the work of other people, and returns its problems.
pub(crate) fn check_reason(reason: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if reason.trim().is_empty() {
        problems.push(Problem::new("/reason", "is missing: give a reason for the people whose work stops"));
    }
    if reason.len() > limits::REASON_BYTES {
        problems.push(Problem::new("/reason", format!("is longer than {} bytes", limits::REASON_BYTES)));
    }
    problems
}
