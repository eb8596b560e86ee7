//! State of an interrupt after each event of its run.

use serde_json::Value;

use crate::event::{self, Event};
use crate::interrupt::{
    AnswerAmendments, AnswerContent, Cause, Claim, Comment, Due, ExecReport, Interrupt, Kind, ReminderReason,
    Resolution, Usage, Vote,
};
use crate::run::Fact;

impl Interrupt {
    /// Applies the event with the sequence number `seq` to the state of the interrupt. Live runs, replays and readers
    /// of single events use this function. Ignores events about other interrupts.
    pub fn apply(&mut self, event: &Event, seq: u64) {
        let event::Fact::Run(fact) = &event.fact else { return };
        if let Fact::DecisionMade { interrupt, .. } = fact
            && *interrupt == self.opened.interrupt
            && let Some(vote) = Vote::from_event(event, seq)
        {
            self.cast(vote);
        }
        if let Fact::InterruptClaimed { interrupt, by, holder } = fact
            && *interrupt == self.opened.interrupt
        {
            self.claim = Some(Claim { by: by.clone(), holder: holder.clone(), at: event.at, seq });
            self.claims += 1;
        }
        if let Fact::InterruptReleased { interrupt } = fact
            && *interrupt == self.opened.interrupt
        {
            self.claim = None;
        }
        if let Fact::CommentAdded { interrupt } = fact
            && *interrupt == self.opened.interrupt
        {
            self.comments.push(Comment {
                by: event.actor.id.clone(),
                role: event.actor.role,
                text: event.content.text.clone(),
                found: event.content.data.clone(),
                at: event.at,
                seq,
            });
        }
        if let Fact::InterruptViewed { interrupt } = fact
            && *interrupt == self.opened.interrupt
        {
            self.views.entry(event.actor.id.clone()).or_insert(event.at);
        }
        self.reassign(fact);
        self.wait(fact);
        self.keep(fact, event, seq);
        self.mark_used(fact, event);
        if let Fact::InterruptResolved { interrupt, outcome, option, cause, decision, .. } = fact
            && *interrupt == self.opened.interrupt
        {
            self.resolution = Some(Resolution {
                outcome: *outcome,
                option: option.clone(),
                cause: cause.clone(),
                by: event.actor.id.clone(),
                at: event.at,
                seq,
                decision: settling_seq(seq, cause, *decision),
            });
        }
    }

    /// Applies reassignments, delegations and withdrawn votes to the state of the interrupt.
    fn reassign(&mut self, fact: &Fact) {
        if let Fact::InterruptReassigned { interrupt, assignment, .. } = fact
            && *interrupt == self.opened.interrupt
        {
            self.assignment = (**assignment).clone();
            self.version += 1;
            self.due.is_outdated = true;
        }
        if let Fact::InterruptDelegated { interrupt, delegation } = fact
            && *interrupt == self.opened.interrupt
        {
            self.delegations.push(delegation.clone());
        }
        if let Fact::VoteWithdrawn { interrupt, by, .. } = fact
            && *interrupt == self.opened.interrupt
        {
            self.votes.retain(|vote| vote.by != *by);
        }
    }

    /// Applies reminders, escalation steps and snoozes to the state of the interrupt.
    fn wait(&mut self, fact: &Fact) {
        let own = self.opened.interrupt.clone();
        if let Fact::InterruptTimed { interrupt, stage, remind_at, escalate_at } = fact
            && *interrupt == own
        {
            let (remind_at, escalate_at, stage) = (*remind_at, *escalate_at, *stage);
            self.due = Due { remind_at, escalate_at, stage, ..Due::default() };
        }
        if let Fact::InterruptReminded { interrupt, to, cause, remind_at } = fact
            && *interrupt == own
        {
            match cause {
                ReminderReason::Waiting => {
                    self.due.remind_at = *remind_at;
                    self.due.reminded += 1;
                }
                ReminderReason::Snoozed => self.snoozes.retain(|id, _| !to.contains(id)),
            }
        }
        if let Fact::InterruptEscalated { interrupt, steps, assignment, remind_at, escalate_at, .. } = fact
            && *interrupt == own
        {
            self.assignment = (**assignment).clone();
            self.version += 1;
            let (remind_at, escalate_at) = (*remind_at, *escalate_at);
            self.due = Due { remind_at, escalate_at, steps: *steps, reminded: 0, ..self.due.clone() };
        }
        if let Fact::InterruptSnoozed { interrupt, by, until } = fact
            && *interrupt == own
        {
            match until {
                Some(until) => self.snoozes.insert(by.clone(), *until),
                None => self.snoozes.remove(by),
            };
        }
    }

    /// Applies corrections and erasures of an answer to the state of the interrupt, and records the events that contain
    /// a copy of the answer.
    fn keep(&mut self, fact: &Fact, event: &Event, seq: u64) {
        if let Fact::AnswerCorrected { interrupt } = fact
            && *interrupt == self.opened.interrupt
        {
            let given = AnswerContent { text: event.content.text.clone(), edit: event.content.data.clone() };
            self.kept.corrected = Some((given, event.at));
            self.kept.copies.push(seq);
        }
        // A voter may replace a vote. The decision event of the replaced vote still holds a copy of the answer.
        if let Fact::DecisionMade { interrupt, .. } = fact
            && *interrupt == self.opened.interrupt
            && self.opened.kind == Kind::Question
        {
            self.kept.copies.push(seq);
        }
        if let Fact::NoteAdded { interrupt, .. } = fact
            && *interrupt == self.opened.interrupt
        {
            self.kept.copies.push(seq);
        }
        if let Fact::AnswerErased { interrupt, .. } = fact
            && *interrupt == self.opened.interrupt
        {
            self.kept = AnswerAmendments { erased: true, ..AnswerAmendments::default() };
            for vote in &mut self.votes {
                (vote.text, vote.edit) = (None, Value::Null);
            }
        }
    }

    /// Applies the use of an approval, and the external agent's report on writing the approved changes, to the state of
    /// the interrupt.
    fn mark_used(&mut self, fact: &Fact, event: &Event) {
        if let Fact::ApprovalUsed { interrupt, digest } = fact
            && *interrupt == self.opened.interrupt
        {
            self.used = Some(Usage { by: event.actor.id.clone(), at: event.at, digest: *digest });
        }
        if let Fact::ExecReported { interrupt, outcome } = fact
            && *interrupt == self.opened.interrupt
        {
            let text = event.content.text.clone();
            self.exec = Some(ExecReport { outcome: *outcome, text, at: event.at });
        }
    }
}

impl Vote {
    /// Returns the vote that this event records. `seq` is the event's sequence number. `None` if the event does not
    /// record a vote.
    pub fn from_event(event: &Event, seq: u64) -> Option<Self> {
        let event::Fact::Run(Fact::DecisionMade {
            option,
            edit_of,
            from,
            seat,
            viewed_ms,
            on_behalf_of,
            also,
            ..
        }) = &event.fact
        else {
            return None;
        };
        Some(Self {
            by: event.actor.id.clone(),
            role: event.actor.role,
            option: option.clone(),
            text: event.content.text.clone(),
            edit: event.content.data.clone(),
            edit_of: *edit_of,
            from: from.clone(),
            seat: seat.clone().unwrap_or_default(),
            viewed_ms: *viewed_ms,
            on_behalf_of: on_behalf_of.clone(),
            also: also.clone(),
            let_in_by: event.actor.let_in_by.clone(),
            at: event.at,
            seq,
        })
    }
}

/// Returns the sequence number of the decision that decided an interrupt. `seq` is the sequence number of the event
/// that resolved the interrupt. Journals of version 1 do not name the decision. In these journals, the decision is the
/// event before `seq`.
fn settling_seq(seq: u64, cause: &Cause, named: Option<u64>) -> Option<u64> {
    named.or_else(|| (*cause == Cause::Decision).then(|| seq.saturating_sub(1)))
}
