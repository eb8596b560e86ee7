//! Interrupts that wait for a decision: their deadlines, the recipients of reminders, and snoozes.

use std::collections::BTreeSet;

use super::{Escalation, Interrupt, Refusal, Voter};
use crate::limits;
use crate::people::People;
use crate::schema::Problem;
use crate::time::Timestamp;

/// Event that is due for an open interrupt at a certain time: an escalation step, a reminder, or the end of a snooze.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DueEvent {
    Escalate,
    Remind,
    Wake,
}

impl Interrupt {
    /// Returns the first escalation, reminder or end of a snooze that is due at `now`. If several of these events have
    /// the same time, the order of [`DueEvent`] decides.
    pub fn due_by(&self, now: Timestamp) -> Option<DueEvent> {
        let snoozed = self.snoozes.values().min().copied();
        let all = [
            (self.due.escalate_at, DueEvent::Escalate),
            (self.due.remind_at, DueEvent::Remind),
            (snoozed, DueEvent::Wake),
        ];
        let due = all.into_iter().filter_map(|(at, what)| Some((at.filter(|at| *at <= now)?, what)));
        due.min().map(|(_, what)| what)
    }

    /// Returns the times of the expiry, the reminders, the escalation and the ends of snoozes that happen if nobody
    /// decides.
    pub fn deadlines(&self) -> impl Iterator<Item = Timestamp> {
        let own = [self.opened.expires_at, self.due.remind_at, self.due.escalate_at];
        own.into_iter().flatten().chain(self.snoozes.values().copied())
    }

    /// Returns the next escalation step. `None` if there is no further step.
    pub fn next_step(&self) -> Option<&Escalation> {
        self.opened.timing.escalation.get(self.due.steps).filter(|_| self.due.escalate_at.is_some())
    }

    /// Returns the time at which this person's snooze ends.
    pub fn snoozed_until(&self, id: &str) -> Option<Timestamp> {
        self.snoozes.get(id).copied()
    }

    /// Returns the recipients of a reminder: people who can still agree in the current stage and have not voted.
    /// Instead of an absent person, the person's delegate gets the reminder. Delegates of this interrupt also get the
    /// reminder.
    pub fn waited_for(&self, people: &People, starter: Option<&str>, now: Timestamp) -> BTreeSet<String> {
        let at = self.stage_now();
        let Some(stage) = self.assignment.stages.get(at) else { return BTreeSet::new() };
        let has_voted = |id: &str| {
            let counts = |stage| self.assignment.distinct || stage == at;
            self.votes.iter().any(|vote| (vote.by == id || vote.principal() == id) && counts(vote.seat.stage))
        };
        let mut told = BTreeSet::new();
        for id in people.deciding().filter(|id| stage.is_for(id, people) && !has_voted(id)) {
            let given = self.delegations.iter();
            let given = given.filter(|one| one.from == id && one.until.is_none_or(|until| until > now));
            told.extend(given.map(|one| one.to.clone()));
            told.insert(people.standing_in(id, now).to_owned());
        }
        told.retain(|id| !self.assignment.is_own(id, starter) && !has_voted(id) && people.can_decide(id));
        told
    }

    /// Checks that the person is allowed to snooze the interrupt until `until`. If `until` is `None`, the person's
    /// current snooze ends. Returns false if nothing would change.
    pub fn check_snooze(&self, voter: &Voter<'_>, until: Option<Timestamp>) -> Result<bool, Refusal> {
        self.may_act(voter)?;
        let before = self.snoozes.get(&voter.actor.id);
        let Some(until) = until else { return Ok(before.is_some()) };
        let refused = |why: String| Err(Refusal::Invalid(vec![Problem::new("/until", why)]));
        if until <= voter.now {
            return refused("is in the past".to_owned());
        }
        if let Some(expires_at) = self.opened.expires_at.filter(|at| until > *at) {
            return refused(format!("is later than the expiry of the interrupt, {expires_at}"));
        }
        if until > voter.now.plus_ms(limits::SNOOZE_MS) {
            return refused(format!("must be at most {} days ahead", limits::SNOOZE_MS / 86_400_000));
        }
        if before.is_none() && self.snoozes.len() >= limits::SNOOZES {
            return Err(Refusal::Limit { name: "snoozes", limit: limits::SNOOZES as u64 });
        }
        Ok(before != Some(&until))
    }
}
