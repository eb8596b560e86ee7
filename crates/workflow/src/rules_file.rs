//! The rules file: what the installation allows, asks about and forbids, of its own agents and of those that run
//! elsewhere.
//!
//! ```yaml
//! rules:
//!   - {tools: [shell], commands: ["git push *"], do: forbid, reason: Pushes are for people.}
//!   - {agents: [billing-bot], tools: [lookup_order], do: allow}
//! ```
//!
//! A rule is one of a workflow. Tools and agents are compared by their full names, also such as no workflow knows.

use holdshort_core::policy::Rule;

use crate::bounds;
use crate::item::{Item, Keys};
use crate::problem::{Problem, Problems};
use crate::workflow::rules;
use crate::yaml::{self, Unreadable};

const KEYS: Keys = Keys { known: &["rules"], later: &[] };

/// The rules of a file, in its order. `file_name` is for the problems only.
pub fn parse(file_name: &str, text: &str) -> Result<Vec<Rule>, Vec<Problem>> {
    let mut problems = Problems::of(file_name);
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
