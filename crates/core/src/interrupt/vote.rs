//! Votes: decisions as recorded in the journal.

use serde_json::Value;

use super::Seat;
use crate::actor::{self, ResponsiblePeople, Role};
use crate::id::InterruptId;
use crate::name;
use crate::time::Timestamp;

/// A recorded decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    pub by: String,
    /// Role in which the voter acted.
    pub role: Role,
    pub option: String,
    pub text: Option<String>,
    pub edit: Value,
    /// Sequence of the decision that introduced this edit. `None` without an edit.
    pub edit_of: Option<u64>,
    /// Earlier question whose answer was reused.
    pub from: Option<InterruptId>,
    /// Seat of the vote.
    pub seat: Seat,
    /// Milliseconds for which the card was displayed, as reported by the voter's client.
    pub viewed_ms: Option<u64>,
    /// Person represented by the voter, as reported by the client.
    pub on_behalf_of: Option<String>,
    /// Open interrupts that the voter wanted released with the grant.
    pub also: Vec<InterruptId>,
    /// Creator of the login link that the voter used, if it was another person.
    pub let_in_by: Option<String>,
    pub at: Timestamp,
    /// Sequence of the `decision_made` event in the run's stream.
    pub seq: u64,
}

impl Vote {
    /// Returns the represented person, or the voter.
    pub fn principal(&self) -> &str {
        self.seat.principal(&self.by)
    }

    pub fn responsible_people(&self) -> ResponsiblePeople<'_> {
        ResponsiblePeople { id: &self.by, hand: self.hand() }
    }

    /// Returns the creator of the voter's login link, or the voter: see [`Actor::hand`](crate::actor::Actor::hand).
    pub fn hand(&self) -> &str {
        actor::hand(&self.by, self.let_in_by.as_deref())
    }

    /// Returns true if one person may have cast both votes: their names are equal, or one voter used a login link that
    /// the other one created.
    pub(super) fn is_of_one_hand(&self, other: &Self) -> bool {
        let is_let_in = |vote: &Self| vote.hand() != vote.by;
        let is_same = name::is_same(self.hand(), other.hand())
            || name::is_same(self.hand(), other.principal())
            || name::is_same(self.principal(), other.hand());
        let is_one_name = self.by != other.by && name::is_same(&self.by, &other.by);
        is_one_name || ((is_let_in(self) || is_let_in(other)) && is_same)
    }
}
