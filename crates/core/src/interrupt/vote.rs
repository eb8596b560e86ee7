//! Votes: decisions as they stand in the journal.

use serde_json::Value;

use super::Seat;
use crate::actor::{self, Role, Whose};
use crate::id::InterruptId;
use crate::name;
use crate::time::Timestamp;

/// A decision as it stands in the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    pub by: String,
    /// In which role they came.
    pub role: Role,
    pub option: String,
    pub text: Option<String>,
    pub edit: Value,
    /// The sequence of the decision that brought this edit; `None` without one.
    pub edit_of: Option<u64>,
    /// The answer to an earlier question that it was taken from.
    pub from: Option<InterruptId>,
    /// What it counts as.
    pub seat: Seat,
    /// How long it was shown to them before, as their client says.
    pub viewed_ms: Option<u64>,
    /// For whom they decided, as their client says.
    pub on_behalf_of: Option<String>,
    /// Open interrupts that they wanted released with the grant.
    pub also: Vec<InterruptId>,
    /// Whoever made the link that they signed in with, where that is somebody else.
    pub let_in_by: Option<String>,
    pub at: Timestamp,
    /// Of its `decision_made`, in the run's stream.
    pub seq: u64,
}

impl Vote {
    /// Whose vote it is: of whoever cast it, or whom they stood in for.
    pub fn principal(&self) -> &str {
        self.seat.principal(&self.by)
    }

    pub fn whose(&self) -> Whose<'_> {
        Whose { id: &self.by, hand: self.hand() }
    }

    /// Whose vote it is as much as theirs who cast it: see [`Actor::hand`](crate::actor::Actor::hand).
    pub fn hand(&self) -> &str {
        actor::hand(&self.by, self.let_in_by.as_deref())
    }

    /// Returns true if one person may have cast both votes: their names are the same, or one signed in with a login
    /// link that the other one made.
    pub(super) fn is_of_one_hand(&self, other: &Self) -> bool {
        let is_let_in = |vote: &Self| vote.hand() != vote.by;
        let is_same = name::is_same(self.hand(), other.hand())
            || name::is_same(self.hand(), other.principal())
            || name::is_same(self.principal(), other.hand());
        let is_one_name = self.by != other.by && name::is_same(&self.by, &other.by);
        is_one_name || ((is_let_in(self) || is_let_in(other)) && is_same)
    }
}
