//! Positions of the subtasks in a drawing of the plan. Each subtask is to the left of the subtasks that depend on it.
//! Subtasks that depend on each other are near each other. The browser and the terminal both use these positions.

use std::collections::BTreeMap;

use super::Plan;

/// Column (`layer`) and row of a subtask in a drawing, both counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodePosition {
    /// Length of the longest chain of dependencies that leads to the subtask.
    pub layer: usize,
    pub row: usize,
}

impl Plan {
    /// Returns a different position for each subtask, in the order of the plan. If a subtask belongs to a cycle of
    /// dependencies, or depends on a cycle, its position is in the first layer. A plan that has passed the check has no
    /// cycle.
    pub fn layout(&self) -> Vec<NodePosition> {
        let layers = self.layers();
        let mut places: Vec<NodePosition> = Vec::new();
        let last = layers.iter().max().map_or(0, |last| last + 1);
        let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
        for layer in 0..last {
            let mut members: Vec<usize> = (0..layers.len()).filter(|at| layers[*at] == layer).collect();
            // Subtasks are sorted by the middle row of the subtasks on which they depend. If the middle rows are equal,
            // the order of the plan applies.
            members.sort_by_key(|at| (self.middle(*at, &rows), *at));
            rows.extend(members.into_iter().enumerate().map(|(row, at)| (at, row)));
        }
        for (at, layer) in layers.into_iter().enumerate() {
            places.push(NodePosition { layer, row: rows.get(&at).copied().unwrap_or_default() });
        }
        places
    }

    fn layers(&self) -> Vec<usize> {
        let mut layers: BTreeMap<&str, usize> = BTreeMap::new();
        // If the plan has no cycle, each round of the loop places at least one subtask.
        for _ in &self.subtasks {
            let before = layers.len();
            for subtask in &self.subtasks {
                if layers.contains_key(subtask.id.as_str()) {
                    continue;
                }
                let needs: Option<Vec<usize>> =
                    subtask.depends_on.iter().map(|need| layers.get(need.as_str()).copied()).collect();
                if let Some(needs) = needs {
                    let layer = needs.into_iter().max().map_or(0, |deepest| deepest + 1);
                    layers.insert(&subtask.id, layer);
                }
            }
            if layers.len() == before {
                break;
            }
        }
        self.subtasks.iter().map(|subtask| layers.get(subtask.id.as_str()).copied().unwrap_or(0)).collect()
    }

    /// Returns the mean row, multiplied by two, of the subtasks on which the subtask at index `at` depends.
    fn middle(&self, at: usize, rows: &BTreeMap<usize, usize>) -> usize {
        let needs = &self.subtasks[at].depends_on;
        let place = |need: &String| self.subtasks.iter().position(|other| other.id == *need);
        let found: Vec<usize> =
            needs.iter().filter_map(place).filter_map(|place| rows.get(&place).copied()).collect();
        if found.is_empty() { 0 } else { 2 * found.iter().sum::<usize>() / found.len() }
    }
}
