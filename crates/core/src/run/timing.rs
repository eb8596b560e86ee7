//! Reminders, escalations and snoozes of interrupts that wait for a decision. Each reminder, each escalation and each
//! end of a snooze is a deadline of the run. A deadline that was missed takes effect once, at the next check of the
//! deadlines.

use std::collections::BTreeSet;

use super::Fact;
use super::draft::Draft;
use super::input::Rejection;
use crate::actor::Actor;
use crate::envelope::Content;
use crate::id::InterruptId;
use crate::interrupt::{DueEvent, Escalation, Interrupt, ReminderReason};
use crate::time::Timestamp;

impl Draft<'_> {
    /// Returns true if a freeze of the asking agent stops the work of the interrupt. During the freeze, reminders,
    /// escalations and the expiry of the interrupt do not happen. When the freeze is lifted, reminders, escalations and
    /// expiries happen if their time has passed.
    pub(super) fn is_held(&self, interrupt: &Interrupt) -> bool {
        let agent = interrupt.opened.agent.as_deref();
        agent.is_some_and(|agent| self.cx.system.freezes.of_agent(agent).is_some())
    }

    /// Sends reminders about open interrupts, escalates interrupts and ends snoozes, if their time has come. If several
    /// reminders or escalations were missed, only one is carried out. The delay of the next reminder or escalation
    /// begins now.
    pub(super) fn keep_waiting(&mut self) {
        if self.run.freeze(self.cx.system).is_some() {
            return;
        }
        let open: Vec<InterruptId> = self.run.open_interrupts().map(|(id, _)| id.clone()).collect();
        for id in open {
            while let Ok(interrupt) = self.interrupt(&id)
                && interrupt.is_open()
                && !self.is_held(&interrupt)
            {
                match interrupt.due_by(self.now()) {
                    Some(DueEvent::Escalate) => self.ask_others(&interrupt),
                    Some(DueEvent::Remind) => self.remind(&interrupt),
                    Some(DueEvent::Wake) => self.wake(&interrupt),
                    None => break,
                }
            }
        }
    }

    fn waited_for(&self, interrupt: &Interrupt) -> BTreeSet<String> {
        interrupt.waited_for(&self.cx.system.people, self.run.starter(), self.now())
    }

    fn remind(&mut self, interrupt: &Interrupt) {
        let mut to = self.waited_for(interrupt);
        // People who snoozed the interrupt get their reminder when the snooze ends.
        to.retain(|id| interrupt.snoozed_until(id).is_none());
        let stage = interrupt.assignment.stages.get(interrupt.stage_now());
        let told = interrupt.due.reminded + 1;
        let remind_at =
            interrupt.opened.timing.next_reminder(told, self.now(), stage, &self.cx.system.people);
        self.tell_again(interrupt, to, ReminderReason::Waiting, remind_at);
    }

    fn wake(&mut self, interrupt: &Interrupt) {
        let now = self.now();
        let over = interrupt.snoozes.iter().filter(|(_, until)| **until <= now).map(|(id, _)| id.clone());
        let waited_for = self.waited_for(interrupt);
        // An admin may decide on every interrupt. Even if the interrupt does not need the admin's vote, the admin may
        // have snoozed the interrupt.
        let sits = |id: &String| !self.cx.system.people.is_barred(id);
        let (to, gone): (BTreeSet<String>, BTreeSet<String>) =
            over.partition(|id| waited_for.contains(id) || sits(id));
        for by in gone {
            let fact =
                Fact::InterruptSnoozed { interrupt: interrupt.opened.interrupt.clone(), by, until: None };
            self.emit_by(Actor::engine(), fact, Content::none());
        }
        if !to.is_empty() {
            self.tell_again(interrupt, to, ReminderReason::Snoozed, None);
        }
    }

    fn tell_again(
        &mut self,
        interrupt: &Interrupt,
        to: BTreeSet<String>,
        cause: ReminderReason,
        remind_at: Option<Timestamp>,
    ) {
        let (interrupt, to) = (interrupt.opened.interrupt.clone(), to.into_iter().collect());
        self.emit_by(
            Actor::engine(),
            Fact::InterruptReminded { interrupt, to, cause, remind_at },
            Content::none(),
        );
    }

    /// Carries out the interrupt's next escalation step that names a person who can decide. If no step names such a
    /// person, admins and operators are asked.
    fn ask_others(&mut self, interrupt: &Interrupt) {
        let (cx, starter, now) = (self.cx, self.run.starter().map(str::to_owned), self.now());
        let (people, starter) = (&cx.system.people, starter.as_deref());
        let (timing, assignment) = (&interrupt.opened.timing, &interrupt.assignment);
        let at = interrupt.stage_now();
        let reaches = |step: &Escalation| {
            let can_meet = || assignment.escalated(at, step).find_shortage(people, starter).is_none();
            step.reaches(assignment, people, starter) && (!step.replace || can_meet())
        };
        let left = timing.escalation.iter().enumerate().skip(interrupt.due.steps);
        let taken = left.clone().find(|(_, step)| reaches(step));
        let next = match taken {
            Some((_, step)) => assignment.escalated(at, step),
            None => assignment.of_operators(at),
        };
        let skipped =
            left.map(|(i, _)| i).take_while(|i| taken.is_none_or(|(taken, _)| *i < taken)).collect();
        let steps = taken.map_or(timing.escalation.len(), |(i, _)| i + 1);
        let stage = next.stages.get(at);
        let remind_at = timing.first_reminder(now, stage, people);
        let escalate_at = timing.step_at(steps, now, stage, people);
        let before = interrupt.assignment.stages.get(at);
        let is_replaced = taken.is_some_and(|(_, step)| step.replace)
            || before.is_some_and(|before| stage.is_some_and(|stage| before.roles != stage.roles));
        let escalated = Interrupt { assignment: next.clone(), ..interrupt.clone() };
        let to = escalated.waited_for(people, starter, now).into_iter().collect();
        self.emit_by(
            Actor::engine(),
            Fact::InterruptEscalated {
                interrupt: interrupt.opened.interrupt.clone(),
                stage: at,
                step: taken.map(|(i, _)| i),
                skipped,
                steps,
                assignment: Box::new(next),
                to,
                remind_at,
                escalate_at,
            },
            Content::none(),
        );
        if is_replaced {
            self.withdraw_those_of(interrupt, at);
        }
    }

    /// Restarts the reminders and escalations of interrupts that have reached a new stage or have new approvers.
    pub(super) fn begin_anew(&mut self) {
        let waits = |interrupt: &Interrupt| {
            let moved = || interrupt.due.is_outdated || interrupt.stage_now() > interrupt.due.stage;
            interrupt.opened.timing.has_follow_ups() && moved()
        };
        let changed = self.run.open_interrupts().filter(|(_, each)| waits(each));
        let changed: Vec<Interrupt> = changed.map(|(_, each)| each.clone()).collect();
        for interrupt in changed {
            let (at, now, people) = (interrupt.stage_now(), self.now(), &self.cx.system.people);
            let (timing, stage) = (&interrupt.opened.timing, interrupt.assignment.stages.get(at));
            let fact = Fact::InterruptTimed {
                interrupt: interrupt.opened.interrupt.clone(),
                stage: at,
                remind_at: timing.first_reminder(now, stage, people),
                escalate_at: timing.step_at(0, now, stage, people),
            };
            self.emit_by(Actor::engine(), fact, Content::none());
        }
    }

    /// Snoozes an interrupt for the sender only, or ends the sender's snooze.
    pub(super) fn snooze(&mut self, id: &InterruptId, until: Option<Timestamp>) -> Result<(), Rejection> {
        if self.interrupt(id)?.check_snooze(&self.voter(), until)? {
            let by = self.cx.actor.id.clone();
            self.emit(Fact::InterruptSnoozed { interrupt: id.clone(), by, until }, Content::none());
        }
        Ok(())
    }
}
