//! Finds the grants and refusals of a session that apply to a call.

use serde_json::{Value, json};

use super::Session;
use crate::actor::ResponsiblePeople;
use crate::gate::refusal::NAMED;
use crate::gate::{Grant, Matcher, Refusal, RefusedBefore, Subject};
use crate::interrupt::Assignment;
use crate::people::People;
use crate::time::Timestamp;

/// Data that determines which people's grants apply to a call. A grant applies only if the person who gave the
/// grant is allowed to decide the call alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Granters<'a> {
    pub(crate) assignment: &'a Assignment,
    pub(crate) people: &'a People,
    /// Actor who started the run.
    pub(crate) starter: Option<ResponsiblePeople<'a>>,
}

impl Granters<'_> {
    fn count(&self, grant: &Grant) -> bool {
        self.assignment.still_trusts(grant.responsible_people(), grant.added_at, self.people, self.starter)
    }
}

impl Session {
    /// Returns the active grants that were given by people who can decide the call alone. `asked_at` is the time at
    /// which a person was first asked about the call. Grants that were given later do not apply to the call.
    pub(crate) fn grants_by(
        &self,
        granters: Granters<'_>,
        asked_at: Option<Timestamp>,
        now: Timestamp,
    ) -> Vec<&Grant> {
        let is_in_time = |grant: &Grant| asked_at.is_none_or(|asked_at| grant.added_at < asked_at);
        self.active_grants(now).filter(|grant| is_in_time(grant) && granters.count(grant)).collect()
    }

    /// Compares a call with the refusals of the session that are not revoked.
    pub(crate) fn refused_before(&self, subject: &Subject<'_>, arguments: &Value) -> RefusedBefore {
        RefusedBefore::compare(self.standing_refusals(), subject, arguments)
    }

    /// Returns descriptions of the refused calls that the grant would allow. A card that offers the grant lists these
    /// calls.
    pub(crate) fn refused_of(&self, grant: &Matcher) -> Vec<String> {
        let mut refused: Vec<&Refusal> =
            self.standing_refusals().filter(|refusal| refusal.call.may_be_covered(grant)).collect();
        refused.sort_by_key(|refusal| std::cmp::Reverse(refusal.seq));
        refused.into_iter().take(NAMED).map(Refusal::describe).collect()
    }

    /// Renders a grant as data for a card.
    pub(crate) fn grant_card(&self, grant: &Matcher) -> Value {
        let mut card = json!(grant);
        card["words"] = json!(grant.describe());
        card["past"] = json!([]);
        card["refused"] = json!(self.refused_of(grant));
        card
    }
}
