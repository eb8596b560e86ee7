//! Reads `agents.NAME.handoffs`: the agents to which this agent may hand over its work. This module only checks the
//! names. The core creates the tools for handing over work.

use holdshort_core::handoff::{ADMIN, TERMINATOR, TOOL_NAME_CHARS, tool, tool_name};
use holdshort_core::run::OVERSEER;
use holdshort_core::tool::Spec;

use super::agents::Agents;
use crate::bounds;
use crate::item::Item;
use crate::problem::Problems;

/// Targets of a hand-off that exist in every workflow, so that no workflow defines them.
const BUILT_IN: [&str; 2] = [TERMINATOR, ADMIN];

/// Reports a problem if an agent has the name of a built-in hand-off target or of the judge of calls.
pub(super) fn check_name(name: &str, item: &Item<'_>, problems: &mut Problems) {
    if BUILT_IN.contains(&name) {
        problems.at(item, format!("`{name}` is a built-in target of handovers; choose another name"));
    }
    if name == OVERSEER {
        problems.at(item, format!("`{name}` is the built-in judge of smart approval; choose another name"));
    }
}

/// Returns one hand-off tool for each listed target, with which an agent hands over its work.
pub(super) fn read(from: &str, item: &Item<'_>, agents: &Agents, problems: &mut Problems) -> Vec<Spec> {
    let mut named = item.texts(bounds::AGENTS, bounds::LINE, problems).unwrap_or_default();
    named.retain(|(to, item)| {
        let before = problems.len();
        if to == from {
            problems.at(item, format!("`{to}` would hand over to itself"));
        } else if !agents.has(to) && !BUILT_IN.contains(&to.as_str()) {
            let all = agents.names().chain(BUILT_IN);
            problems.unknown(item, to, format!("there is no agent `{to}`"), all);
        } else if tool_name(to).chars().count() > TOOL_NAME_CHARS {
            let message = format!(
                "the name of the tool, `{}`, has more than {TOOL_NAME_CHARS} characters",
                tool_name(to)
            );
            problems.at(item, message);
        }
        problems.len() == before
    });
    named.into_iter().map(|(to, _)| tool(&to)).collect()
}
