//! Reads the rules file: which tool calls the installation allows, asks about or forbids. The rules apply to the agents
//! of Holdshort and to external agents. They are written like the rules of a workflow, but may name tools and agents
//! that are in no workflow.

use holdshort_core::policy::Rule;

use crate::bounds;
use crate::item::{Item, Keys};
use crate::problem::{Problem, Problems};
use crate::workflow::rules;
use crate::yaml::{self, Unreadable};

const KEYS: Keys = Keys { known: &["rules"], later: &[] };

/// Returns the rules in the order of the rules file. `file_name` is only needed for problems.
pub fn parse(file_name: &str, text: &str) -> Result<Vec<Rule>, Vec<Problem>> {
    let mut problems = Problems::for_file(file_name);
    let node = match yaml::parse_large(text, bounds::RULES_BYTES, bounds::RULES_NODES) {
        Ok(node) => node,
        Err(Unreadable { place, message }) => {
            problems.push(place, String::new(), message, None);
            return problems.finish(None);
        }
    };
    let top = Item::top(&node);
    let item =
        top.fields(&KEYS, &mut problems).and_then(|fields| fields.need("rules", &mut problems).cloned());
    let found = item.and_then(|item| rules::of_installation(&item, &mut problems));
    problems.finish(found)
}
