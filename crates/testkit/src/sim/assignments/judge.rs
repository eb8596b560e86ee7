//! The judge of a simulation of assignments. The judge reads the events that the simulation produces, and reports rules
//! that these events violate.

use std::collections::BTreeMap;

use holdshort_core::event::{self, Event};
use holdshort_core::id::InterruptId;
use holdshort_core::interrupt::{Assignment, Cause, Opened, Outcome, ReminderReason, Represented, Stage};
use holdshort_core::run::{Ask, Fact, ReassignmentReason};
use holdshort_core::system;
use holdshort_core::time::Timestamp;

use super::law::{Ballot, InterruptModel, PeopleModel, STARTER, need};
use super::{SKEW_MS, run_fact};

#[derive(Default)]
pub(super) struct Judge {
    pub(super) problem: Option<String>,
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) releases: u64,
    town: PeopleModel,
    matters: BTreeMap<InterruptId, InterruptModel>,
    /// The interrupt that was requested last in the simulation and has not opened yet.
    asked: Option<Ask>,
    n: u64,
}

impl Judge {
    pub(super) fn expect_interrupt(&mut self, ask: &Ask) {
        self.asked = Some(ask.clone());
    }

    /// Checks the events of one append. `now` is the time in the simulation. The clock of the node that wrote the
    /// events may differ from this time by at most [`SKEW_MS`].
    pub(super) fn check_append(&mut self, events: &[Event], now: Timestamp) {
        for event in events {
            self.n += 1;
            *self.counts.entry(event.fact.encode().0).or_default() += 1;
            let told = match &event.fact {
                event::Fact::Run(fact) => self.check_run_fact(fact, event, now),
                event::Fact::System(fact) => {
                    self.apply_system_fact(fact);
                    Ok(())
                }
                event::Fact::Session(_) => Ok(()),
            };
            if let (Err(why), None) = (told, &self.problem) {
                self.problem = Some(why);
            }
        }
        // A vote that became void must be withdrawn in the same append, before any later decision.
        if events.iter().any(|event| run_fact(event).is_some()) {
            for matter in self.matters.values_mut() {
                let Some((stage, n)) = matter.void.take() else { continue };
                let stays = |ballot: &Ballot| ballot.n < n && stage.is_none_or(|stage| ballot.stage == stage);
                if matter.ballots.iter().any(stays) {
                    self.problem
                        .get_or_insert_with(|| "a vote of a former approver is still counted".to_owned());
                }
            }
        }
    }

    fn apply_system_fact(&mut self, fact: &system::Fact) {
        match fact {
            system::Fact::PersonSet { person, is } => {
                self.town.people.insert(person.clone(), (is.roles.clone(), is.groups.clone()));
            }
            system::Fact::PersonLeft { person } => {
                self.town.people.remove(person);
                self.town.away.remove(person);
            }
            system::Fact::AwaySet { person, away } => match away {
                Some(away) => {
                    self.town.away.insert(person.clone(), (away.until, away.delegate.clone()));
                }
                None => drop(self.town.away.remove(person)),
            },
            system::Fact::Frozen => self.town.frozen = true,
            system::Fact::Unfrozen => self.town.frozen = false,
            _ => {}
        }
    }

    fn matter(&mut self, id: &InterruptId) -> Result<&mut InterruptModel, String> {
        self.matters.get_mut(id).ok_or_else(|| "an event names an interrupt that was never opened".to_owned())
    }

    fn check_run_fact(&mut self, fact: &Fact, event: &Event, now: Timestamp) -> Result<(), String> {
        let (town, n, at) = (self.town.clone(), self.n, event.at);
        match fact {
            Fact::InterruptOpened(opened) => self.opened(opened, at),
            Fact::DecisionMade { interrupt, option, seat, .. } => {
                let seat = seat.clone().unwrap_or_default();
                let by = event.actor.id.clone();
                let of = seat.in_place_of.clone().unwrap_or_else(|| by.clone());
                let matter = self.matter(interrupt)?;
                if matter.is_over || matter.expires_at.is_some_and(|end| end <= at) {
                    return Err(format!("{by} decides an interrupt that is no longer open"));
                }
                if !town.may_sit(matter, seat.stage, &by, &of, at) {
                    return Err(format!(
                        "{by} votes on behalf of {of} in stage {}, in which neither may vote",
                        seat.stage
                    ));
                }
                // Without `distinct`, one person may vote in several stages.
                let again = |ballot: &Ballot| matter.assignment.distinct || ballot.stage == seat.stage;
                matter.ballots.retain(|ballot| ballot.by != by || !again(ballot));
                let groups = seat.groups.clone();
                matter.ballots.push(Ballot { by, of, stage: seat.stage, option: option.clone(), groups, n });
                Ok(())
            }
            Fact::VoteWithdrawn { interrupt, by, .. } => {
                self.matter(interrupt)?.ballots.retain(|ballot| ballot.by != *by);
                Ok(())
            }
            Fact::InterruptReassigned { interrupt, assignment, cause } => {
                let matter = self.matter(interrupt)?;
                for (i, stage) in assignment.stages.iter().enumerate() {
                    let (before, asks) = (matter.needs[i], need(stage));
                    if *cause == ReassignmentReason::Person && asks < before {
                        return Err(format!(
                            "after a reassignment, {asks} people must agree, but before it {before} had to \
                                agree"
                        ));
                    }
                    if *cause == ReassignmentReason::Emptied {
                        matter.needs[i] = asks;
                    }
                }
                matter.assignment = (**assignment).clone();
                matter.void = Some((None, n));
                Ok(())
            }
            Fact::InterruptDelegated { interrupt, delegation } => {
                self.matter(interrupt)?.delegations.push(delegation.clone());
                Ok(())
            }
            Fact::InterruptTimed { interrupt, remind_at, escalate_at, .. } => {
                let matter = self.matter(interrupt)?;
                (matter.remind_at, matter.escalate_at) = first(matter, at);
                (matter.told, matter.steps) = (0, 0);
                same("begins anew", (matter.remind_at, matter.escalate_at), (*remind_at, *escalate_at))
            }
            Fact::InterruptSnoozed { interrupt, by, until } => {
                let matter = self.matter(interrupt)?;
                if until.is_some_and(|until| matter.expires_at.is_some_and(|end| until > end)) {
                    return Err("the interrupt is snoozed beyond its expiry".to_owned());
                }
                match until {
                    Some(until) => drop(matter.snoozed.insert(by.clone(), *until)),
                    None => drop(matter.snoozed.remove(by)),
                }
                Ok(())
            }
            Fact::InterruptReminded { interrupt, to, cause, remind_at } => {
                let matter = self.matter(interrupt)?;
                if *cause == ReminderReason::Snoozed {
                    for who in to {
                        let until = matter.snoozed.remove(who);
                        due("somebody is woken", until, at, now, &town)?;
                    }
                    return Ok(());
                }
                due("a reminder", matter.remind_at, at, now, &town)?;
                reminded(matter, to, at, &town)?;
                matter.told += 1;
                let asks = matter.timing.reminders.ok_or("no reminder was configured")?;
                matter.remind_at =
                    asks.every_ms.filter(|_| matter.told < asks.limit).map(|ms| at.plus_ms(ms));
                same("the next reminder", (matter.remind_at, None), (*remind_at, None))
            }
            Fact::InterruptEscalated {
                interrupt,
                stage,
                step,
                skipped,
                assignment,
                remind_at,
                escalate_at,
                ..
            } => {
                let matter = self.matter(interrupt)?;
                due("an escalation", matter.escalate_at, at, now, &town)?;
                escalated(matter, *stage, *step, skipped, assignment, &town, n)?;
                matter.steps = step.map_or(matter.timing.escalation.len(), |step| step + 1);
                matter.told = 0;
                let (remind, _) = first(matter, at);
                let next = matter.timing.escalation.get(matter.steps).map(|step| at.plus_ms(step.after_ms));
                (matter.remind_at, matter.escalate_at) = (remind, next);
                same("the next step", (matter.remind_at, matter.escalate_at), (*remind_at, *escalate_at))
            }
            Fact::InterruptResolved { interrupt, outcome, option, cause, .. } => {
                let matter = self.matter(interrupt)?;
                if std::mem::replace(&mut matter.is_over, true) {
                    return Err("resolved twice".to_owned());
                }
                match cause {
                    Cause::Expiry => due("an expiry", matter.expires_at, at, now, &town)?,
                    Cause::Decision if *outcome == Outcome::Approved => {
                        let option = option.as_deref().unwrap_or_default();
                        let lacks = matter.lacks(&town, option);
                        self.releases += 1;
                        if let Some(why) = lacks {
                            return Err(format!("released although {why}"));
                        }
                        if option != "approve" && option != "approve_session" {
                            return Err(format!("`{option}` released"));
                        }
                    }
                    _ if *outcome == Outcome::Approved => {
                        return Err("an interrupt was approved without a decision".to_owned());
                    }
                    _ => {}
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn opened(&mut self, opened: &Opened, at: Timestamp) -> Result<(), String> {
        let ask = self.asked.take().ok_or("nobody asked")?;
        if opened.assignment != ask.assignment || opened.timing != ask.timing {
            return Err("the interrupt opened with other approvers than requested".to_owned());
        }
        let mut matter = InterruptModel {
            needs: ask.assignment.stages.iter().map(need).collect(),
            assignment: ask.assignment,
            timing: ask.timing,
            expires_at: ask.expires_in_ms.map(|ms| at.plus_ms(ms)),
            remind_at: None,
            escalate_at: None,
            told: 0,
            steps: 0,
            ballots: Vec::new(),
            delegations: Vec::new(),
            snoozed: BTreeMap::new(),
            is_over: false,
            void: None,
        };
        (matter.remind_at, matter.escalate_at) = first(&matter, at);
        let expected = (matter.remind_at, matter.escalate_at);
        self.matters.insert(opened.interrupt.clone(), matter);
        same("it opens", expected, (opened.remind_at, opened.escalate_at))
    }

    /// Checks that no deadline was missed in the simulation. Before this is called, a node must have handled all
    /// deadlines that are due.
    pub(super) fn at_the_end(&mut self, now: Timestamp) {
        for matter in self.matters.values().filter(|matter| !matter.is_over) {
            let own = [matter.expires_at, matter.remind_at, matter.escalate_at];
            let all = own.into_iter().flatten().chain(matter.snoozed.values().copied());
            if all.into_iter().any(|at| at <= now) {
                self.problem.get_or_insert_with(|| "a deadline passed, and nothing happened".to_owned());
            }
        }
    }
}

fn first(matter: &InterruptModel, at: Timestamp) -> (Option<Timestamp>, Option<Timestamp>) {
    let remind = matter.timing.reminders.map(|asks| at.plus_ms(asks.after_ms));
    let escalate = matter.timing.escalation.first().map(|step| at.plus_ms(step.after_ms));
    (remind, escalate)
}

type Times = (Option<Timestamp>, Option<Timestamp>);

fn same(what: &str, expected: Times, found: Times) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}")) }
}

/// Checks that the deadline `due` has passed: by the timestamp of the event that it caused, and by the clock of at
/// least one node. Also checks that no freeze is in effect at that time.
fn due(
    what: &str,
    due: Option<Timestamp>,
    at: Timestamp,
    now: Timestamp,
    town: &PeopleModel,
) -> Result<(), String> {
    let Some(due) = due else { return Err(format!("{what} without a deadline")) };
    if town.frozen {
        return Err(format!("{what} in a freeze"));
    }
    let early = due > at || due > now.plus_ms(SKEW_MS);
    if early { Err(format!("{what} at {now}, before its deadline {due}")) } else { Ok(()) }
}

/// Checks that a reminder is sent to exactly those approvers of the interrupt whose votes are missing.
fn reminded(matter: &InterruptModel, to: &[String], at: Timestamp, town: &PeopleModel) -> Result<(), String> {
    let now_at = matter.now_at();
    let stage = &matter.assignment.stages[now_at];
    let has_voted = |who: &str| {
        let counts = |ballot: &&Ballot| matter.assignment.distinct || ballot.stage == now_at;
        matter.ballots.iter().filter(counts).any(|ballot| ballot.by == who || ballot.of == who)
    };
    let is_own = |who: &str| !matter.assignment.self_approval && who == STARTER;
    let sleeps = |who: &str| matter.snoozed.contains_key(who);
    for who in to {
        let asked = town.is_asked(stage, who)
            || town.people.keys().any(|of| town.is_asked(stage, of) && town.stands_in(matter, who, of, at));
        if !asked || has_voted(who) || is_own(who) || sleeps(who) {
            return Err(format!("{who} is reminded, but is not an approver"));
        }
    }
    for who in town.people.keys().filter(|who| town.is_asked(stage, who)) {
        let is_away =
            town.away.get(who).is_some_and(|(until, to)| to.is_some() && until.is_none_or(|end| end > at));
        let left_out = !is_away && !has_voted(who) && !is_own(who) && !sleeps(who) && !to.contains(who);
        if left_out {
            return Err(format!("{who} is an approver, but is not reminded"));
        }
    }
    Ok(())
}

/// Checks that an escalation changes the assignment of the interrupt exactly as its escalation step states.
fn escalated(
    matter: &mut InterruptModel,
    at: usize,
    step: Option<usize>,
    skipped: &[usize],
    to: &Assignment,
    town: &PeopleModel,
    n: u64,
) -> Result<(), String> {
    let end = step.unwrap_or(matter.timing.escalation.len());
    if skipped.iter().copied().ne(matter.steps..end) {
        return Err(format!("escalation steps {skipped:?} are left out before step {end}"));
    }
    for each in skipped.iter().map(|i| &matter.timing.escalation[*i]) {
        if !each.replace && town.names(&each.approvers, &each.groups) && matter.assignment.self_approval {
            return Err("an escalation step with recipients is skipped".to_owned());
        }
    }
    let before = matter.assignment.stages[at].clone();
    let found = to.stages.get(at).ok_or("a stage is gone")?;
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names.dedup();
        names
    };
    let both = |one: &[String], two: &[String]| sorted(&[one, two].concat());
    let is_open = |stage: &Stage| stage.operators || (stage.approvers.is_empty() && stage.groups.is_empty());
    let (approvers, groups, operators) = match step.map(|step| &matter.timing.escalation[step]) {
        Some(step) if step.replace || before.roles == Represented::All => {
            matter.void = Some((Some(at), n));
            (sorted(&step.approvers), sorted(&step.groups), false)
        }
        Some(step) => {
            (both(&before.approvers, &step.approvers), both(&before.groups, &step.groups), is_open(&before))
        }
        None => (sorted(&before.approvers), sorted(&before.groups), true),
    };
    let (names, also) = (sorted(&found.approvers), sorted(&found.groups));
    if names != approvers
        || also != groups
        || is_open(found) != (operators || (names.is_empty() && also.is_empty()))
    {
        return Err(format!(
            "an escalation step asks {names:?} and {also:?}, not {approvers:?} and {groups:?}"
        ));
    }
    for (i, stage) in to.stages.iter().enumerate() {
        if need(stage) < matter.needs[i] {
            return Err(format!(
                "after an escalation step, {} people must agree in stage {i}, but the step says {}",
                need(stage),
                matter.needs[i]
            ));
        }
        if i != at && *stage != matter.assignment.stages[i] {
            return Err("an escalation step changed another stage".to_owned());
        }
    }
    if to.distinct != matter.assignment.distinct || to.self_approval != matter.assignment.self_approval {
        return Err("an escalation step changed who may agree".to_owned());
    }
    matter.assignment = to.clone();
    Ok(())
}
