//! Checks the starts of actions, which are events. After a start was written, the action may be performed at most once.
//! Only the node that wrote the start may perform the action, and only while the node believes that it drives the run.
//! Another node may take over the action in two cases: the node that wrote the start is gone, or its lease has ended
//! since the start.
//!
//! A node may freeze after it has checked its lease and before the side effect occurs. The store cannot prevent such a
//! side effect. Therefore it is accepted, and is called *late*: it occurs after the end of the lease under which the
//! action was started.

use std::collections::BTreeMap;

use holdshort_core::run::{Action, ActionId, Fact};

use super::WitnessedRun;
use crate::sim::leases::{Leases, Term};
use crate::sim::node::NodeId;

/// An action of a run for which a start was written. When a step is retried, its attempts are counted from 1 again, and
/// the id of an action contains this number. Therefore two nodes may write starts with the same id.
pub(super) struct StartedAction {
    /// For each simulated node, the number of times that it wrote the action's start, and the number of times that it
    /// performed the action.
    counts: BTreeMap<NodeId, Counts>,
    /// Simulated node that wrote the last start of the action, and the period of its lease at that time.
    by: NodeId,
    term: Option<Term>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    started: u32,
    performed: u32,
}

impl StartedAction {
    /// Returns true if a simulated node has performed the action each time that it wrote its start.
    fn has_performed_all(&self, node: NodeId) -> bool {
        self.counts.get(&node).is_some_and(|counts| counts.performed == counts.started)
    }

    /// Returns true if the lease under which the last start of the action was written has never ended since then.
    pub(super) fn has_unbroken_lease(&self, leases: &Leases) -> bool {
        self.term.is_some() && self.term == leases.term(self.by)
    }
}

/// Checks that no two simulated nodes use the same driver number (epoch).
pub(super) fn check_epoch(
    epochs: &mut BTreeMap<u64, NodeId>,
    node: NodeId,
    fact: &Fact,
) -> Result<(), String> {
    let (Fact::TrialStarted { epoch, .. }
    | Fact::ToolStarted { epoch, .. }
    | Fact::ModelStarted { epoch, .. }
    | Fact::Adopted { epoch, .. }) = fact
    else {
        return Ok(());
    };
    let first = *epochs.entry(*epoch).or_insert(node);
    if first == node { Ok(()) } else { Err(format!("epoch {epoch} of n{first} is used by n{node}")) }
}

impl WitnessedRun {
    pub(super) fn starts(&mut self, node: NodeId, leases: &Leases, fact: &Fact) {
        let action = match fact {
            Fact::TrialStarted { call, attempt, .. } => Action::Try { call: call.clone(), attempt: *attempt },
            Fact::ToolStarted { call, attempt, .. } => {
                Action::CallTool { call: call.clone(), attempt: *attempt }
            }
            Fact::ModelStarted { step, turn, attempt, .. } => {
                Action::CallModel { step: step.clone(), turn: *turn, attempt: *attempt, not_before: None }
            }
            _ => return,
        };
        let new = StartedAction { counts: BTreeMap::new(), by: node, term: None };
        let begun = self.begun.entry(action.id()).or_insert(new);
        begun.counts.entry(node).or_default().started += 1;
        begun.by = node;
        begun.term = leases.term(node);
    }

    /// Checks a takeover of work by a simulated node. A node may take over an action only if no other node is
    /// performing it. A node may declare only its own actions as still running.
    pub(super) fn adopts(&self, node: NodeId, leases: &Leases, fact: &Fact) -> Result<(), String> {
        let Fact::Adopted { epoch, kept } = fact else { return Ok(()) };
        for action in kept {
            let began = self.begun.get(action).filter(|begun| begun.by == node);
            if began.is_none_or(|begun| !begun.has_performed_all(node)) {
                return Err(format!("n{node} continues {action}, which it did not start"));
            }
            if !self.run.started().any(|(started, _)| started == *action) {
                return Err(format!("n{node} continues {action}, which has ended"));
            }
        }
        let lost = self.run.started().filter(|(action, of)| of < epoch && !kept.contains(action));
        for (action, _) in lost {
            let Some(begun) = self.begun.get(&action).filter(|begun| begun.has_unbroken_lease(leases)) else {
                continue;
            };
            if begun.by != node {
                return Err(format!(
                    "n{node} takes {action} over from n{}, whose lease is still valid",
                    begun.by
                ));
            }
            if begun.has_performed_all(node) {
                return Err(format!("n{node} gives up {action}, but still performs it"));
            }
        }
        Ok(())
    }

    pub(super) fn performed(
        &mut self,
        node: NodeId,
        believes: bool,
        action: &ActionId,
    ) -> Result<(), String> {
        let Some(begun) = self.begun.get_mut(action) else {
            return Err(format!("{action} is performed, but its start was not written"));
        };
        let Some(counts) = begun.counts.get_mut(&node) else {
            return Err(format!("n{node} performs {action}, but n{} wrote its start", begun.by));
        };
        counts.performed += 1;
        let Counts { performed, started } = *counts;
        if performed > started {
            return Err(format!("n{node} performed {action} {performed} times, but wrote {started} starts"));
        }
        if !believes {
            return Err(format!(
                "n{node} performs {action}, although it can know that its lease has expired"
            ));
        }
        Ok(())
    }
}
