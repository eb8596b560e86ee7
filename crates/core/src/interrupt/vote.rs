//! Votes: decisions of people, as the journal records them.

use serde_json::Value;

use super::Seat;
use crate::actor::{self, ResponsiblePeople, Role};
use crate::id::InterruptId;
use crate::name;
use crate::time::Timestamp;

/// A decision of a person, as the journal records it.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    pub by: String,
    /// Role of the voter at the time of the vote.
    pub role: Role,
    pub option: String,
    pub text: Option<String>,
    pub edit: Value,
    /// Sequence number of the decision that contained the vote's edit first. `None` if the vote has no edit.
    pub edit_of: Option<u64>,
    /// Earlier question, if the voter reused its answer.
    pub from: Option<InterruptId>,
    /// Stage, person and groups for which the vote counts.
    pub seat: Seat,
    /// Time for which the card was displayed to the voter, in milliseconds, as the voter's client reports it.
    pub viewed_ms: Option<u64>,
    /// Name of the person that the voter acted for, as the voter's client reports it.
    pub on_behalf_of: Option<String>,
    /// Further open interrupts that this vote also approves, because they match the grant that the vote gives.
    pub also: Vec<InterruptId>,
    /// Creator of the login link with which the voter signed in, if another person created the link.
    pub let_in_by: Option<String>,
    pub at: Timestamp,
    /// Sequence number of the vote's `decision_made` event in the run's stream.
    pub seq: u64,
}

impl Vote {
    /// Returns the person whom the voter represents as a delegate. If there is no such person, returns the voter.
    pub fn principal(&self) -> &str {
        self.seat.principal(&self.by)
    }

    pub fn responsible_people(&self) -> ResponsiblePeople<'_> {
        ResponsiblePeople { id: &self.by, hand: self.hand() }
    }

    /// Returns the person who is responsible for the vote: the creator of the login link with which the voter signed
    /// in, or the voter (see [`Actor::hand`](crate::actor::Actor::hand)).
    pub fn hand(&self) -> &str {
        actor::hand(&self.by, self.let_in_by.as_deref())
    }

    /// Returns true if possibly the same person cast both votes. The result is true if both voters have the same name,
    /// or if one of them signed in with a login link that the other created.
    pub(super) fn is_of_one_hand(&self, other: &Self) -> bool {
        let is_let_in = |vote: &Self| vote.hand() != vote.by;
        let is_same = name::is_same(self.hand(), other.hand())
            || name::is_same(self.hand(), other.principal())
            || name::is_same(self.principal(), other.hand());
        let is_one_name = self.by != other.by && name::is_same(&self.by, &other.by);
        is_one_name || ((is_let_in(self) || is_let_in(other)) && is_same)
    }
}
