//! A bend falsifies the events of a simulation in one way, to test the judge (`judge.rs`). The judge checks the events
//! of a simulation, and must detect every bend.

use holdshort_core::event::{self, Event};
use holdshort_core::interrupt::{Outcome, ReminderReason, Seat};
use holdshort_core::run::Fact;

use super::run_fact;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bend {
    /// Defect: no node handles deadlines.
    KeepNoTime,
    /// Defect: a node handles deadlines one hour too early.
    LookEarly,
    /// Defect: votes are counted with a list of people that lacks the last change of people, groups or absences.
    ReadWhoWasThere,
    /// Defect: one vote is enough to complete a stage, whatever its quorum is.
    ForgetTheQuorum,
    /// Defect: an escalation lowers the number of people who must agree.
    AskFewerLater,
    /// Defect: an escalation asks people whom its escalation step does not list.
    AskOthers,
    /// Defect: an escalation replaces the approvers, but votes of the replaced approvers stay valid.
    KeepTheirVotes,
    /// Defect: each reminder is written twice.
    RemindTwice,
    /// Defect: a reminder is sent to people who are not approvers.
    RemindAnybody,
    /// Defect: a reminder is sent to nobody.
    RemindNobody,
    /// Defect: a vote is cast on behalf of a person who has not named the voter as a delegate.
    StandInForAnother,
    /// Defect: a rejection is written as an approval.
    ReleaseWhatWasRefused,
}

impl Bend {
    pub const ALL: [Self; 12] = [
        Self::KeepNoTime,
        Self::LookEarly,
        Self::ReadWhoWasThere,
        Self::ForgetTheQuorum,
        Self::AskFewerLater,
        Self::AskOthers,
        Self::KeepTheirVotes,
        Self::RemindTwice,
        Self::RemindAnybody,
        Self::RemindNobody,
        Self::StandInForAnother,
        Self::ReleaseWhatWasRefused,
    ];

    pub(super) fn falsify(self, events: Vec<Event>) -> Vec<Event> {
        let replaces =
            events.iter().any(|event| matches!(run_fact(event), Some(Fact::InterruptEscalated { .. })));
        events.into_iter().flat_map(|event| self.falsify_event(event, replaces)).collect()
    }

    fn falsify_event(self, mut event: Event, escalates: bool) -> Vec<Event> {
        let event::Fact::Run(fact) = &mut event.fact else { return vec![event] };
        match (self, fact) {
            (Self::ForgetTheQuorum, Fact::InterruptOpened(opened)) => {
                for stage in &mut opened.assignment.stages {
                    stage.required = 1;
                }
            }
            (Self::AskFewerLater, Fact::InterruptEscalated { assignment, .. }) => {
                for stage in &mut assignment.stages {
                    stage.required = 1;
                }
            }
            (Self::AskOthers, Fact::InterruptEscalated { assignment, stage, .. }) => {
                assignment.stages[*stage].approvers = vec!["ben".to_owned(), "cleo".to_owned()];
            }
            (Self::KeepTheirVotes, Fact::VoteWithdrawn { .. }) if escalates => return Vec::new(),
            (Self::RemindTwice, Fact::InterruptReminded { cause: ReminderReason::Waiting, .. }) => {
                return vec![event.clone(), event];
            }
            (Self::RemindAnybody, Fact::InterruptReminded { cause: ReminderReason::Waiting, to, .. }) => {
                *to = ["anna", "ben", "cleo", "dirk", "olga", "otto"].map(str::to_owned).to_vec();
            }
            (Self::RemindNobody, Fact::InterruptReminded { cause: ReminderReason::Waiting, to, .. }) => {
                to.clear();
            }
            (Self::StandInForAnother, Fact::DecisionMade { seat, .. }) => {
                let other = if event.actor.id == "anna" { "ben" } else { "anna" };
                let seat = seat.get_or_insert_with(Seat::default);
                seat.in_place_of = Some(other.to_owned());
            }
            (Self::ReleaseWhatWasRefused, Fact::InterruptResolved { outcome, .. })
                if *outcome == Outcome::Rejected =>
            {
                *outcome = Outcome::Approved;
            }
            _ => {}
        }
        vec![event]
    }

    /// Plays seeds until the judge detects the bend. Returns the report of that simulation.
    pub fn noticed(self) -> Option<super::AssignmentReport> {
        (0..400).map(|seed| super::play(seed, Some(self))).find(|asked| asked.problem.is_some())
    }
}
