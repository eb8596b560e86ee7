//! Freezes: prevent starts and suspend deadlines until they are lifted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::RunId;
use crate::limits;
use crate::name::is_name;
use crate::schema::Problem;
use crate::time::Timestamp;

/// Frozen part of the installation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Run(RunId),
    /// All runs of a workflow, by its name.
    Workflow(String),
    /// Acts of an agent, by its name, in any run. Also questions of an external agent.
    Agent(String),
}

/// Record of a freeze.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    pub by: String,
    pub at: Timestamp,
    /// `None` in journals from before reasons were required.
    pub reason: Option<String>,
}

impl Freeze {
    /// Returns the reason, as the rest of a sentence that states actor and time.
    pub(super) fn why(&self) -> String {
        self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    }
}

/// Active freezes.
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

    /// Returns the widest freeze that holds all runs of a workflow.
    pub fn of_workflow(&self, workflow: &str) -> Option<&Freeze> {
        self.all.as_ref().or_else(|| self.parts.get(&Part::Workflow(workflow.to_owned())))
    }

    /// Returns the widest freeze that holds a run of a workflow, for all of its agents.
    pub fn for_run(&self, run: &RunId, workflow: &str) -> Option<&Freeze> {
        self.of_workflow(workflow).or_else(|| self.parts.get(&Part::Run(run.clone())))
    }

    /// Returns the widest freeze that holds a run, or an agent's acts in it, with the part. The part is `None` for the
    /// whole installation.
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

    /// Returns true if `before` held something that may continue now.
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

    /// Returns the problems of a new freeze.
    pub(super) fn check(&self, part: Option<&Part>, reason: &str) -> Vec<Problem> {
        let mut problems = check_reason(reason);
        let named = match part {
            Some(Part::Workflow(name)) => Some(("/workflow", name)),
            Some(Part::Agent(name)) => Some(("/agent", name)),
            Some(Part::Run(_)) | None => None,
        };
        if let Some((field, _)) = named.filter(|(_, name)| !is_name(name, limits::NAME_BYTES)) {
            problems.push(Problem::new(field, "is empty, too long, or holds characters that do not show"));
        }
        let is_new = part.is_some_and(|part| !self.parts.contains_key(part));
        if is_new && self.parts.len() >= limits::FREEZES {
            let message = format!(
                "exceeds the limit: {} freezes are active; lift one, or freeze everything",
                limits::FREEZES
            );
            problems.push(Problem::new("/reason", message));
        }
        problems
    }
}

/// Returns the problems of a reason for holding up other people.
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
