//! Reads `needs`: for each phase, the phases that must end before it starts. Reports unknown phases and cycles.

use std::collections::BTreeSet;

use crate::item::Item;
use crate::problem::Problems;

pub(super) struct Node<'a> {
    pub(super) id: String,
    /// Ids of the phases that this phase needs. The item is the position of the need in the file. Without `needs` in
    /// the file, a phase needs the phase before it, and there is no item.
    pub(super) needs: Vec<(String, Option<Item<'a>>)>,
}

/// Reports each need of a phase that names an unknown phase, and each cycle of needs once.
pub(super) fn check(nodes: &[Node<'_>], problems: &mut Problems) {
    for (need, item) in nodes.iter().flat_map(|node| &node.needs) {
        if let Some(item) = item
            && position(nodes, need).is_none()
        {
            let ids = nodes.iter().map(|node| node.id.as_str());
            problems.unknown(item, need, format!("there is no phase `{need}`"), ids);
        }
    }
    let mut seen = vec![false; nodes.len()];
    for start in 0..nodes.len() {
        walk(nodes, start, &mut Vec::new(), &mut seen, problems);
    }
}

fn position(nodes: &[Node<'_>], id: &str) -> Option<usize> {
    nodes.iter().position(|node| node.id == id)
}

/// Returns the indexes of all phases that end before the phase at index `at` starts, beginning with the nearest.
pub(super) fn before(nodes: &[Node<'_>], at: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut look = vec![at];
    while !look.is_empty() {
        let needs = look.iter().flat_map(|at| &nodes[*at].needs);
        let next: BTreeSet<usize> = needs.filter_map(|(need, _)| position(nodes, need)).collect();
        look = next.into_iter().filter(|at| !found.contains(at)).collect();
        found.extend(&look);
    }
    found
}

/// Searches for cycles in the needs of phases with a depth-first search. `way` is the path of needs that leads to `at`.
/// The recursion is at most [`crate::bounds::PHASES`] deep.
fn walk(nodes: &[Node<'_>], at: usize, way: &mut Vec<usize>, seen: &mut [bool], problems: &mut Problems) {
    if let Some(start) = way.iter().position(|earlier| *earlier == at) {
        report(nodes, &way[start..], problems);
        return;
    }
    if seen[at] {
        return;
    }
    seen[at] = true;
    way.push(at);
    for (need, _) in &nodes[at].needs {
        if let Some(next) = position(nodes, need) {
            walk(nodes, next, way, seen, problems);
        }
    }
    way.pop();
}

/// Reports a cycle in the needs of phases, at the first need of the cycle that the file contains.
fn report(nodes: &[Node<'_>], ring: &[usize], problems: &mut Problems) {
    let Some(first) = ring.first() else { return };
    let after = ring.iter().skip(1).chain([first]);
    let written = ring.iter().zip(after).find_map(|(at, next)| {
        nodes[*at].needs.iter().find(|(need, _)| *need == nodes[*next].id)?.1.as_ref()
    });
    let ids: Vec<_> = ring.iter().chain([first]).map(|at| format!("`{}`", nodes[*at].id)).collect();
    if let Some(item) = written {
        let message = match ring {
            [only] => format!("the phase `{}` lists itself in `needs`", nodes[*only].id),
            _ => format!("these phases wait for each other: {}", ids.join(" → ")),
        };
        problems.at(item, message);
    }
}
