//! Who begins what: each start is begun once at most, by the node that wrote it down, while that node believes
//! that it drives the run; and is taken over only where that node is gone, or its lease ended since.
//!
//! What a store can not know is what a node does that is frozen between its last look at its lease and the effect.
//! That window is accepted as what it is: the effect is *late*, which means that the lease in which the start was
//! written did not stand any more when the tool ran.

use std::collections::BTreeMap;

use holdshort_core::run::{Action, ActionId, Fact};

use super::Witnessed;
use crate::sim::leases::{Leases, Term};
use crate::sim::node::NodeId;

/// An action that was written down as started. Attempts are counted anew when a step is tried again, so several nodes may
/// have written one of the same name.
pub(super) struct Begun {
    /// How often each node wrote it down, and how often it began it.
    counts: BTreeMap<NodeId, Counts>,
    /// Who wrote the last start, and the term of its lease.
    by: NodeId,
    term: Option<Term>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    started: u32,
    performed: u32,
}

impl Begun {
    /// Whether a node has begun all that it wrote down.
    fn is_at(&self, node: NodeId) -> bool {
        self.counts.get(&node).is_some_and(|counts| counts.performed == counts.started)
    }

    /// Whether the lease in which it was started has stood ever since.
    pub(super) fn stood(&self, leases: &Leases) -> bool {
        self.term.is_some() && self.term == leases.term(self.by)
    }
}

/// An epoch is one node's alone.
pub(super) fn drawn(epochs: &mut BTreeMap<u64, NodeId>, node: NodeId, fact: &Fact) -> Result<(), String> {
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

impl Witnessed {
    /// A start is written.
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
        let new = Begun { counts: BTreeMap::new(), by: node, term: None };
        let begun = self.begun.entry(action.id()).or_insert(new);
        begun.counts.entry(node).or_default().started += 1;
        begun.by = node;
        begun.term = leases.term(node);
    }

    /// A node takes over: only what nobody is at. What it goes on with must be its own.
    pub(super) fn adopts(&self, node: NodeId, leases: &Leases, fact: &Fact) -> Result<(), String> {
        let Fact::Adopted { epoch, kept } = fact else { return Ok(()) };
        for action in kept {
            let began = self.begun.get(action).filter(|begun| begun.by == node);
            if began.is_none_or(|begun| !begun.is_at(node)) {
                return Err(format!("n{node} goes on with {action}, which it did not begin"));
            }
            if !self.run.started().any(|(started, _)| started == *action) {
                return Err(format!("n{node} goes on with {action}, which is over"));
            }
        }
        let lost = self.run.started().filter(|(action, of)| of < epoch && !kept.contains(action));
        for (action, _) in lost {
            let Some(begun) = self.begun.get(&action).filter(|begun| begun.stood(leases)) else { continue };
            if begun.by != node {
                return Err(format!("n{node} takes {action} over from n{}, whose lease stands", begun.by));
            }
            if begun.is_at(node) {
                return Err(format!("n{node} gives {action} up, and is at it"));
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
            return Err(format!("{action} is begun, and no start is written"));
        };
        let Some(counts) = begun.counts.get_mut(&node) else {
            return Err(format!("n{node} begins {action}, which n{} wrote down", begun.by));
        };
        counts.performed += 1;
        let Counts { performed, started } = *counts;
        if performed > started {
            return Err(format!("n{node} begins {action} {performed} times, and wrote {started} starts"));
        }
        if !believes {
            return Err(format!("n{node} begins {action}, and can know that its lease is over"));
        }
        Ok(())
    }
}
