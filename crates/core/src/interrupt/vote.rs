//! Votes: decisions of people as the journal records them.

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
    /// Role that the voter had when voting.
    pub role: Role,
    pub option: String,
    pub text: Option<String>,
    pub edit: Value,
    /// Sequence number of the decision that introduced the vote's edit. `None` if the vote has no edit.
    pub edit_of: Option<u64>,
    /// Earlier question whose answer the voter reused for this vote.
    pub from: Option<InterruptId>,
    /// Stage in which the vote counts, and the people and groups for which it counts.
    pub seat: Seat,
    /// Milliseconds for which the voter's client displayed the card, as reported by the client.
    pub viewed_ms: Option<u64>,
    /// Name of the person whom the voter represented, as reported by the voter's client.
    pub on_behalf_of: Option<String>,
    /// Open interrupts that the voter also released, because the grant of the vote covers them.
    pub also: Vec<InterruptId>,
    /// Creator of the login link with which the voter signed in, if another person created the link.
    pub let_in_by: Option<String>,
    pub at: Timestamp,
    /// Sequence number of the `decision_made` event in the run's stream.
    pub seq: u64,
}

impl Vote {
    /// Returns the person whom the voter represents as delegate. Returns the voter if the voter represents nobody.
    pub fn principal(&self) -> &str {
        self.seat.principal(&self.by)
    }

    pub fn responsible_people(&self) -> ResponsiblePeople<'_> {
        ResponsiblePeople { id: &self.by, hand: self.hand() }
    }

    /// Returns the creator of the voter's login link, or the voter if the voter did not use a login link. See
    /// [`Actor::hand`](crate::actor::Actor::hand).
    pub fn hand(&self) -> &str {
        actor::hand(&self.by, self.let_in_by.as_deref())
    }

    /// Returns true if the same person may have cast both votes. The names of the voters may be equal, or one voter may
    /// have used a login link that the other voter created.
    pub(super) fn is_of_one_hand(&self, other: &Self) -> bool {
        let is_let_in = |vote: &Self| vote.hand() != vote.by;
        let is_same = name::is_same(self.hand(), other.hand())
            || name::is_same(self.hand(), other.principal())
            || name::is_same(self.principal(), other.hand());
        let is_one_name = self.by != other.by && name::is_same(&self.by, &other.by);
        is_one_name || ((is_let_in(self) || is_let_in(other)) && is_same)
    }
}
