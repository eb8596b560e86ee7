//! Computes which notices the events of an append imply, in another way than the core.
//!
//! The core computes notices from one event after another. This module compares the interrupts before the append with
//! those after it.

use std::collections::BTreeMap;

use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::Outcome;
use holdshort_core::notice::{Notice, Occasion};
use holdshort_core::run::{Fact, Run};

/// Key of a notice that channels send: the event that caused the notice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::sim) struct NoticeKey {
    pub(in crate::sim) interrupt: InterruptId,
    /// Sequence number, in the stream of the run, of the event that caused the notice.
    pub(in crate::sim) seq: u64,
    pub(in crate::sim) occasion: Occasion,
    pub(in crate::sim) run: RunId,
}

impl NoticeKey {
    pub(in crate::sim) fn from_notice(notice: &Notice) -> Self {
        let Notice { run, seq, interrupt, occasion, .. } = notice;
        Self { interrupt: interrupt.clone(), seq: *seq, occasion: *occasion, run: run.clone() }
    }
}

/// Interrupts of a run before an append, each with the stage that it had reached.
pub(super) type StageByInterrupt = BTreeMap<InterruptId, usize>;

pub(super) fn collect_stages(run: Option<&Run>) -> StageByInterrupt {
    let all = run.into_iter().flat_map(|run| run.interrupts.iter());
    all.map(|(id, interrupt)| (id.clone(), interrupt.stage_now())).collect()
}

/// Returns the notices that these facts of a run imply. `facts` contains the sequence number of each fact. `run` is the
/// state of the run after all these facts.
pub(super) fn implied(before: &StageByInterrupt, run: &Run, facts: &[(u64, Fact)]) -> Vec<NoticeKey> {
    if run.session().is_none() {
        return Vec::new();
    }
    let mut happened = Vec::new();
    for (id, interrupt) in run.interrupts.iter() {
        let last = |is_it: &dyn Fn(&Fact) -> bool| {
            let of_it = facts.iter().filter(|(_, fact)| subject(fact) == Some(id) && is_it(fact));
            of_it.map(|(seq, _)| *seq).next_back()
        };
        let was = before.get(id);
        let mut found = Vec::new();
        match (was, interrupt.is_open()) {
            // An interrupt that opens and is resolved in one append needs no notice.
            (None, false) => {}
            (None, true) => {
                found.push((Occasion::Opened, last(&|fact| matches!(fact, Fact::InterruptOpened(_)))));
            }
            (Some(_), false) => {
                let is_expiry = |fact: &Fact| matches!(fact, Fact::InterruptResolved { outcome, .. } if *outcome == Outcome::Expired);
                let resolved = |fact: &Fact| matches!(fact, Fact::InterruptResolved { .. });
                found.push((Occasion::Expired, last(&|fact| is_expiry(fact))));
                found.push((Occasion::Resolved, last(&|fact| resolved(fact) && !is_expiry(fact))));
            }
            (Some(stage), true) => {
                let is_next = interrupt.stage_now() > *stage;
                let is_handed_on = |fact: &Fact| match fact {
                    Fact::InterruptReassigned { .. } | Fact::InterruptDelegated { .. } => true,
                    Fact::DecisionMade { .. } => is_next,
                    _ => false,
                };
                found.push((Occasion::Asked, last(&|fact| is_handed_on(fact))));
            }
        }
        if interrupt.is_open() {
            let reminded = |fact: &Fact| matches!(fact, Fact::InterruptReminded { .. });
            let escalated = |fact: &Fact| matches!(fact, Fact::InterruptEscalated { .. });
            found.push((Occasion::Reminded, last(&|fact| reminded(fact))));
            found.push((Occasion::Escalated, last(&|fact| escalated(fact))));
        }
        happened.extend(found.into_iter().filter_map(|(occasion, seq)| {
            Some(NoticeKey { interrupt: id.clone(), seq: seq?, occasion, run: run.id.clone() })
        }));
    }
    happened
}

/// Returns the interrupt that a fact is about, if people may have to be notified of the fact.
fn subject(fact: &Fact) -> Option<&InterruptId> {
    match fact {
        Fact::InterruptOpened(opened) => Some(&opened.interrupt),
        Fact::InterruptReminded { interrupt, .. }
        | Fact::InterruptEscalated { interrupt, .. }
        | Fact::InterruptReassigned { interrupt, .. }
        | Fact::InterruptDelegated { interrupt, .. }
        | Fact::DecisionMade { interrupt, .. }
        | Fact::InterruptResolved { interrupt, .. } => Some(interrupt),
        _ => None,
    }
}
