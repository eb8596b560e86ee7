//! Freezes: what starts nothing, and lets no deadline run out, until somebody lifts it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::RunId;
use crate::limits;
use crate::name::is_name;
use crate::schema::Problem;
use crate::time::Timestamp;

/// What a freeze holds where that is not the whole installation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    Run(RunId),
    /// All runs of a workflow, by its name.
    Workflow(String),
    /// What an agent does, by its name, in whatever run; and what an agent that runs elsewhere has asked for.
    Agent(String),
}

/// Who froze it, when, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Freeze {
    pub by: String,
    pub at: Timestamp,
    /// `None` in journals that are older than the reason.
    pub reason: Option<String>,
}

impl Freeze {
    /// The reason, as the rest of a sentence that says who and when.
    pub(super) fn why(&self) -> String {
        self.reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default()
    }
}

/// The freezes that stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Freezes {
    /// Of the whole installation.
    pub all: Option<Freeze>,
    pub parts: BTreeMap<Part, Freeze>,
}

impl Freezes {
    pub fn of(&self, part: Option<&Part>) -> Option<&Freeze> {
        part.map_or(self.all.as_ref(), |part| self.parts.get(part))
    }

    /// What holds all runs of a workflow: the widest first.
    pub fn of_workflow(&self, workflow: &str) -> Option<&Freeze> {
        self.all.as_ref().or_else(|| self.parts.get(&Part::Workflow(workflow.to_owned())))
    }

    /// What holds a run of a workflow, whoever is at work in it: the widest first.
    pub fn of_run(&self, run: &RunId, workflow: &str) -> Option<&Freeze> {
        self.of_workflow(workflow).or_else(|| self.parts.get(&Part::Run(run.clone())))
    }

    /// What holds a run, or what an agent does in it: the widest first, with the part (`None`: everything).
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

    /// Whether something goes on that `before` held.
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

    /// What is wrong with a freeze that is to be set.
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
            let message =
                format!("is one too many: {} stand; lift one, or freeze everything", limits::FREEZES);
            problems.push(Problem::new("/reason", message));
        }
        problems
    }
}

/// What is wrong with the reason that somebody gives for holding others up.
pub(crate) fn check_reason(reason: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if reason.trim().is_empty() {
        problems.push(Problem::new("/reason", "is missing: say why, for whoever wants to go on"));
    }
    if reason.len() > limits::REASON_BYTES {
        problems.push(Problem::new("/reason", format!("is longer than {} bytes", limits::REASON_BYTES)));
    }
    problems
}
