//! Reads `agents`: the agents with their instructions and tools. Handing over work to another agent is a tool too.

use std::collections::{BTreeMap, BTreeSet};

use holdshort_core::definition::{Agent, EndCondition};
use holdshort_core::handoff::{FINISH, finish};
use holdshort_core::tool;

use super::handoffs;
use crate::item::{Item, Keys};
use crate::problem::Problems;
use crate::{bounds, name};

const KEYS: Keys = Keys {
    known: &["instructions", "asking_instructions", "model", "tools", "handoffs", "ends"],
    later: &[],
};

const ENDS: [(&str, EndCondition); 2] = [("reply", EndCondition::Reply), ("finish", EndCondition::Finish)];

/// Agents as they are in the workflow file. They include the tools with which agents ask people, even if `asking` is
/// disabled.
#[derive(Default)]
pub(super) struct Agents {
    /// Agents of the workflow by name. An agent with a problem is included, so that references to the agent are not
    /// reported too.
    by_name: BTreeMap<String, Agent>,
    handoffs: BTreeMap<String, tool::Spec>,
}

impl Agents {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.by_name.keys().map(String::as_str)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    /// Returns the names of all tools that at least one agent of the workflow has.
    pub(super) fn tools(&self) -> BTreeSet<&str> {
        self.by_name.values().flat_map(|agent| &agent.tools).map(String::as_str).collect()
    }

    /// Returns the number of different tools with which at least one agent of the workflow asks people.
    pub(super) fn asking(&self, catalogue: &[tool::Spec]) -> usize {
        let named = self.tools();
        let asks = |spec: &&tool::Spec| spec.runs == tool::Runs::Opens(tool::Opens::Question);
        catalogue.iter().filter(asks).filter(|spec| named.contains(spec.name.as_str())).count()
    }

    /// Returns the agents of the workflow and the specifications of their tools, in the form that the engine runs.
    pub(super) fn resolve(
        &self,
        catalogue: &[tool::Spec],
    ) -> (BTreeMap<String, Agent>, BTreeMap<String, tool::Spec>) {
        let named = self.tools();
        let tools: BTreeMap<_, _> = catalogue
            .iter()
            .chain(self.handoffs.values())
            .filter(|spec| named.contains(spec.name.as_str()))
            .map(|spec| (spec.name.clone(), spec.clone()))
            .collect();
        let mut agents = self.by_name.clone();
        for agent in agents.values_mut() {
            agent.tools.retain(|tool| tools.contains_key(tool));
        }
        (agents, tools)
    }
}

pub(super) fn read(item: &Item<'_>, catalogue: &[tool::Spec], problems: &mut Problems) -> Option<Agents> {
    let entries = item.entries(problems)?;
    if entries.len() > bounds::AGENTS {
        problems.at(item, format!("{} agents; at most {} are allowed", entries.len(), bounds::AGENTS));
        return None;
    }
    let mut agents = Agents::default();
    let mut hand_over = Vec::new();
    for (agent_name, key, value) in entries {
        name::any_case(agent_name, &key, problems);
        handoffs::check_name(agent_name, &key, problems);
        let (agent, to) = agent(&value, catalogue, problems);
        agents.by_name.insert(agent_name.to_owned(), agent);
        hand_over.extend(to.map(|to| (agent_name, to)));
    }
    // Hand-offs are read last, because they refer to all agents.
    for (from, to) in hand_over {
        let tools = handoffs::read(from, &to, &agents, problems);
        let names = tools.iter().map(|tool| tool.name.clone());
        agents.by_name.entry(from.to_owned()).and_modify(|agent| agent.tools.extend(names));
        agents.handoffs.extend(tools.into_iter().map(|tool| (tool.name.clone(), tool)));
    }
    for agent in agents.by_name.values_mut().filter(|agent| agent.ends == EndCondition::Finish) {
        agent.tools.push(FINISH.to_owned());
        agents.handoffs.insert(FINISH.to_owned(), finish());
    }
    Some(agents)
}

/// Reads an agent of the workflow. Returns its hand-offs unread, because they may name agents that follow.
fn agent<'a>(
    item: &Item<'a>,
    catalogue: &[tool::Spec],
    problems: &mut Problems,
) -> (Agent, Option<Item<'a>>) {
    let mut agent = Agent {
        instructions: String::new(),
        asking_instructions: None,
        model: None,
        tools: Vec::new(),
        ends: EndCondition::default(),
    };
    let Some(fields) = item.fields(&KEYS, problems) else { return (agent, None) };
    if let Some(item) = fields.need("instructions", problems) {
        agent.instructions = item.text(bounds::TEXT, problems).unwrap_or_default();
    }
    if let Some(item) = fields.find("asking_instructions") {
        agent.asking_instructions = item.text(bounds::TEXT, problems);
    }
    agent.model = fields.find("model").and_then(|item| model(item, problems));
    if let Some(item) = fields.find("tools") {
        agent.tools = tools(item, catalogue, problems);
    }
    let ends = fields.find("ends");
    agent.ends = ends.and_then(|item| item.one_of(&ENDS, problems)).unwrap_or_default();
    (agent, fields.find("handoffs").cloned())
}

fn model(item: &Item<'_>, problems: &mut Problems) -> Option<String> {
    let model = item.text(bounds::LINE, problems)?;
    if model.contains("://") {
        problems.at(item, "a model must be the name of a configured model, not a URL");
        return None;
    }
    Some(model)
}

/// Joins all names to a list, for an error message.
pub(super) fn listed<'n>(names: impl Iterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names.join(", ")
}

fn tools(item: &Item<'_>, catalogue: &[tool::Spec], problems: &mut Problems) -> Vec<String> {
    let mut tools = item.texts(bounds::LIST, bounds::LINE, problems).unwrap_or_default();
    tools.retain(|(text, item)| {
        let is_known = catalogue.iter().any(|spec| spec.name == *text);
        if !is_known {
            let names = catalogue.iter().map(|spec| spec.name.as_str());
            let there = listed(names.clone());
            problems.unknown(item, text, format!("there is no tool `{text}`; the tools are: {there}"), names);
        }
        is_known
    });
    tools.into_iter().map(|(tool, _)| tool).collect()
}
