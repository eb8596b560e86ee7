//! Approvers and votes of an interrupt, and whether its reader is allowed to decide.

use std::sync::Arc;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::event::Event;
use holdshort_core::id::{InterruptId, RunId};
use holdshort_core::interrupt::withhold::{RedactedInterrupt, sees_as};
use holdshort_core::interrupt::{self, Interrupt, Represented, Voter};
use holdshort_core::rights::{self, Extent, Permission};
use holdshort_core::run::Run;
use holdshort_core::session::Session;
use holdshort_core::system::System;
use holdshort_core::time::Timestamp;
use holdshort_protocol as wire;
use serde_json::Value;

use super::freeze;
use crate::app::App;
use crate::problem::{Answer, Refused};

/// Person or agent that reads interrupts. Every view of an interrupt is made for one reader.
pub struct Reader {
    actor: Actor,
    /// Role of the reader with the widest view of an interrupt's content. Parts that this role may not see are withheld
    /// from the reader.
    sees: Role,
    system: Arc<System>,
    now: Timestamp,
}

impl Reader {
    pub async fn for_actor(app: &App, actor: &Actor) -> Answer<Self> {
        let system = app.driver.glance_system().await?;
        let sees = sees_as(&actor.id, actor.role, &system.people);
        Ok(Self { actor: actor.clone(), sees, system, now: app.now() })
    }

    /// Returns a redacted copy of an interrupt without the parts that the reader may not see. Returns `None` if the
    /// reader may see everything.
    pub(crate) fn covered(&self, interrupt: &Interrupt) -> Option<RedactedInterrupt> {
        interrupt.redact_for(self.sees, &self.system.people)
    }

    /// Removes from an event about an interrupt the parts that the reader may not see. `seq` is the number of the
    /// event.
    pub(crate) fn cover_event(&self, interrupt: &Interrupt, event: &mut Event, seq: u64) {
        interrupt.cover_event(self.sees, &self.system.people, event, seq);
    }

    /// Returns the other open interrupts of the run that the reader would approve with the grant of this interrupt.
    pub(super) fn also_covered(
        &self,
        run: &Run,
        interrupt: &Interrupt,
        session: &Session,
    ) -> Vec<InterruptId> {
        let people = &self.system.people;
        let voter = Voter { actor: &self.actor, people, starter: run.begun_by(), now: self.now };
        run.also_covered(interrupt, &voter, session, &self.system)
    }

    /// Returns the freeze that would stop the work after an open interrupt is approved. Returns `None` for a reader
    /// that is an agent, because the freeze may be about this agent.
    pub(super) fn frozen(&self, run: &RunId, workflow: &str, interrupt: &Interrupt) -> Option<wire::Frozen> {
        if rights::extent(self.actor.role, Permission::Read) == Extent::Own {
            return None;
        }
        let agent = interrupt.opened.agent.as_deref();
        let (part, freeze) =
            self.system.freezes.holding(run, workflow, agent).filter(|_| interrupt.is_open())?;
        Some(freeze::from_freeze(part.as_ref(), freeze))
    }

    /// Describes what the reader may do with an open interrupt, for example if the reader may decide. Returns `None` if
    /// the interrupt is resolved, or if the reader's role never decides. `starter` is the actor that started the run.
    pub fn you(&self, interrupt: &Interrupt, starter: Option<&Actor>) -> Option<wire::You> {
        if matches!(rights::extent(self.actor.role, Permission::Decide), Extent::Nothing | Extent::Own) {
            return None;
        }
        let voter = Voter { actor: &self.actor, people: &self.system.people, starter, now: self.now };
        let snoozed_until = interrupt.snoozed_until(&self.actor.id).filter(|until| *until > self.now);
        let snoozed_until = snoozed_until.map(|until| until.to_string());
        interrupt.is_open().then(|| match interrupt.seat_now(&voter) {
            Ok(seat) => wire::You {
                may_decide: true,
                code: None,
                why: None,
                in_place_of: seat.in_place_of,
                snoozed_until,
            },
            Err(refusal) => {
                let Refused(problem) = Refused::from(refusal);
                let code = Some(problem.code.as_str().to_owned());
                wire::You {
                    may_decide: false,
                    code,
                    why: Some(problem.detail),
                    in_place_of: None,
                    snoozed_until,
                }
            }
        })
    }
}

/// Assignment and votes of an interrupt, for edges and other interfaces that render them in a form of their own.
pub struct Assigned {
    pub assignment: wire::Assignment,
    /// Votes of the approvers on the interrupt, without the edits in these votes.
    pub votes: Vec<wire::Vote>,
    options: Vec<wire::Offer>,
    is_open: bool,
}

impl Assigned {
    pub fn from_interrupt(interrupt: &Interrupt) -> Self {
        Self {
            assignment: from_interrupt(interrupt),
            votes: votes(interrupt)
                .into_iter()
                .map(|vote| wire::Vote { edit: Value::Null, ..vote })
                .collect(),
            options: interrupt.opened.options.iter().map(super::interrupt::offer(interrupt)).collect(),
            is_open: interrupt.is_open(),
        }
    }

    /// Describes the assignment of the interrupt as lines of text. Returns no lines if any one admin or operator may
    /// decide.
    pub fn lines(&self) -> Vec<(wire::PeopleLine, String)> {
        let Self { assignment, votes, options, is_open } = self;
        let involved = wire::InvolvedPeople { assignment, votes, options, is_open: *is_open, you: None };
        involved.lines(str::to_owned)
    }
}

pub(super) fn from_interrupt(interrupt: &Interrupt) -> wire::Assignment {
    let assigned = &interrupt.assignment;
    let is_staged = assigned.stages.len() > 1;
    let at = if interrupt.is_open() { interrupt.stage_now() } else { 0 };
    let wire::Stage { approvers, groups, quorum, .. } = stage(&assigned.stages[at]);
    let standing = interrupt.missing_votes(at);
    wire::Assignment {
        approvers,
        groups,
        quorum,
        operators: assigned.stages[at].operators,
        self_approval: assigned.self_approval,
        stages: if is_staged { assigned.stages.iter().map(stage).collect() } else { Vec::new() },
        distinct: assigned.distinct,
        stage: (is_staged && interrupt.is_open()).then_some(at),
        needed: (interrupt.is_open() && !assigned.takes_one()).then_some(standing.needed),
        missing: if interrupt.is_open() { standing.missing } else { Vec::new() },
        delegations: interrupt.delegations.iter().map(delegation).collect(),
    }
}

pub(super) fn escalates(interrupt: &Interrupt) -> Option<wire::NextEscalation> {
    let (at, step) = (interrupt.due.escalate_at?, interrupt.next_step()?);
    interrupt.is_open().then(|| wire::NextEscalation {
        at: at.to_string(),
        approvers: step.approvers.clone(),
        groups: step.groups.clone(),
        replace: step.replace,
    })
}

pub(super) fn votes(interrupt: &Interrupt) -> Vec<wire::Vote> {
    let is_staged = interrupt.assignment.stages.len() > 1;
    let shown = |vote: &interrupt::Vote| wire::Vote {
        by: vote.by.clone(),
        option: vote.option.clone(),
        text: vote.text.clone(),
        in_place_of: vote.seat.in_place_of.clone(),
        stage: is_staged.then_some(vote.seat.stage),
        edit_of: vote.edit_of,
        edit: if vote.edit_of.is_some() { vote.edit.clone() } else { Value::Null },
        viewed_ms: vote.viewed_ms,
        on_behalf_of: vote.on_behalf_of.clone(),
        let_in_by: vote.let_in_by.clone(),
        at: vote.at.to_string(),
        seq: vote.seq,
    };
    if interrupt.is_open() { interrupt.votes.iter().map(shown).collect() } else { Vec::new() }
}

fn stage(stage: &interrupt::Stage) -> wire::Stage {
    wire::Stage {
        name: stage.name.clone(),
        approvers: stage.approvers.clone(),
        groups: stage.groups.clone(),
        quorum: wire::Quorum {
            required: stage.required,
            roles: match stage.roles {
                Represented::Any => wire::Represented::Any,
                Represented::All => wire::Represented::All,
            },
        },
    }
}

fn delegation(delegation: &interrupt::Delegation) -> wire::Delegation {
    wire::Delegation {
        from: delegation.from.clone(),
        to: delegation.to.clone(),
        until: delegation.until.map(|until| until.to_string()),
    }
}
