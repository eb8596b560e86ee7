//! Subscription of browsers to push notifications (Web Push).

use crate::id::PushId;
use crate::limits::{NAME_BYTES, PUSH, PUSH_OF_PERSON};
use crate::name::is_name;
use crate::schema::Problem;
use crate::system::push::{Subscribed, Subscription};
use crate::system::{Fact, Rejection, System};

impl System {
    /// Subscribes a browser for the person who signed in last, and ends the browser's earlier subscription. If the same
    /// subscription already exists, nothing changes.
    pub(super) fn subscribe_push(&self, push: PushId, is: Subscription) -> Result<Vec<Fact>, Rejection> {
        if self.push.values().any(|known| known.is == is) {
            return Ok(Vec::new());
        }
        let mut problems = Vec::new();
        if !is_name(&is.host, NAME_BYTES) {
            problems.push(Problem::new("/endpoint", "names no host, or its host is too long"));
        }
        if self.people.signs_in(&is.person).is_empty() {
            problems.push(Problem::new("", format!("there is no person `{}`", is.person)));
        }
        let of_others = |known: &Subscribed| known.is.endpoint == is.endpoint;
        let mut ends: Vec<PushId> =
            self.push.iter().filter(|(_, known)| of_others(known)).map(|(id, _)| id.clone()).collect();
        let theirs: Vec<&PushId> =
            self.push_of(&is.person).map(|(id, _)| id).filter(|id| !ends.contains(*id)).collect();
        let beyond = (theirs.len() + 1).saturating_sub(PUSH_OF_PERSON);
        ends.extend(theirs.into_iter().take(beyond).cloned().collect::<Vec<_>>());
        if self.push.len() - ends.len() >= PUSH {
            problems.push(Problem::new(
                "",
                format!("exceeds the limit of {PUSH} subscribed browsers: no more can be added"),
            ));
        }
        if !problems.is_empty() {
            return Err(Rejection::Invalid(problems));
        }
        let ended = ends.into_iter().map(|push| Fact::PushUnsubscribed { push });
        Ok(ended.chain([Fact::PushSubscribed { push, is }]).collect())
    }

    pub(super) fn unsubscribe_push(&self, push: PushId) -> Result<Fact, Rejection> {
        if self.push.contains_key(&push) {
            Ok(Fact::PushUnsubscribed { push })
        } else {
            Err(Rejection::UnknownPush)
        }
    }
}
