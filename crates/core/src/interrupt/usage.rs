//! Use of approvals by external agents. Each approval can be used once. To use an approval, the agent sends the digest
//! of the action that it is about to perform. The approved action is the payload of the agent's question, with the
//! approver's edit applied.

use serde_json::Value;

use super::{About, Interrupt, Outcome, Usage};
use crate::digest::Digest;
use crate::gate::foreign::ForeignCall;
use crate::gate::foreign_trial::ForeignTrial;
use crate::kept_changes::selected;
use crate::time::Timestamp;

/// Reason why an approval cannot be used. The failed attempt does not change the interrupt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Reason, worded as the end of the error message.
    #[error("the interrupt is not approved: {0}")]
    NotApproved(&'static str),
    #[error("the approval was already used at {at}, by `{by}`")]
    Used { by: String, at: Timestamp, digest: Digest },
    #[error("the approval has expired: it could be used until {at}")]
    Expired { at: Timestamp, digest: Digest },
    #[error("the approved action does not have this digest")]
    Differs { digest: Digest, approved: Box<Value> },
}

/// Changes that an approval releases to an external agent.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleasedChanges {
    /// Trial that contains only the released changes.
    pub trial: ForeignTrial,
    /// Paths whose changes the approver did not approve.
    pub dropped: Vec<String>,
}

impl Interrupt {
    /// Returns the call of an external agent that the interrupt asks about. `None` if the interrupt is not about a
    /// call, or if its content was erased.
    pub fn foreign_call(&self) -> Option<ForeignCall> {
        serde_json::from_value(self.content.get("call")?.clone()).ok()
    }

    /// Returns the trial of the call. `None` if the call was not tried, or if its content was erased.
    pub fn foreign_trial(&self) -> Option<ForeignTrial> {
        serde_json::from_value(self.content.get("trial")?.clone()).ok()
    }

    /// Returns the call of an external agent in the form in which a decision with this edit releases it, and the trial
    /// of the call. If the call was tried, the edit is the list of the paths whose changes are approved. If the call
    /// was not tried, the edit replaces the arguments, and the edited call has no trial.
    pub(crate) fn decided_call(&self, edit: &Value) -> Option<(ForeignCall, Option<ForeignTrial>)> {
        let call = self.foreign_call()?;
        let trial = self.foreign_trial();
        match (edit, trial) {
            (Value::Null, trial) => Some((call, trial)),
            (Value::Array(_), Some(trial)) => {
                let (changeset, _) = selected(&trial.changeset, edit).ok()?;
                let trial = ForeignTrial { changeset, ..trial };
                Some((ForeignCall { trial: Some(trial.digests()), ..call }, Some(trial)))
            }
            (_, _) => Some((call.edited(edit.clone()), None)),
        }
    }

    /// Returns the released changes of a tried call, and the paths that the approver did not approve. `None` if no
    /// person or rule approved the call, if the call was not tried, or if its content was erased.
    pub fn released_changes(&self) -> Option<ReleasedChanges> {
        let edit = self.answer_from_votes().edit;
        let is_approved = self.resolution.as_ref().is_some_and(|it| it.outcome == Outcome::Approved);
        let (_, trial) = self.decided_call(&edit).filter(|_| is_approved)?;
        let dropped = match (&edit, self.foreign_trial()) {
            (Value::Array(_), Some(whole)) => {
                let (_, dropped) = selected(&whole.changeset, &edit).ok()?;
                dropped.into_iter().map(str::to_owned).collect()
            }
            (_, _) => Vec::new(),
        };
        Some(ReleasedChanges { trial: trial?, dropped })
    }

    /// Returns the approved action, in the form of the payload that the agent sent. `None` if the interrupt is not
    /// approved, or if its content was erased.
    pub fn approved(&self) -> Option<Value> {
        let is_approved = self.resolution.as_ref().is_some_and(|it| it.outcome == Outcome::Approved);
        if !is_approved || self.opened.about != About::External || self.content.is_null() {
            return None;
        }
        let edit = self.answer_from_votes().edit;
        if self.content.get("call").is_some() {
            return serde_json::to_value(self.decided_call(&edit)?.0).ok();
        }
        let payload = self.content.get("payload").cloned().unwrap_or_default();
        if edit.is_null() {
            return Some(payload);
        }
        match (self.opened.kind.row().edits, payload) {
            (Some(member), Value::Object(mut fields))
                if fields.get(member).is_some_and(|it| !it.is_null()) =>
            {
                fields.insert(member.to_owned(), edit);
                Some(Value::Object(fields))
            }
            (Some(_) | None, _) => Some(edit),
        }
    }

    /// Returns the end of the period in which the agent can use the approval. `None` if the interrupt is not approved,
    /// or if the period has no end.
    pub fn usable_until(&self) -> Option<Timestamp> {
        let resolution = self.resolution.as_ref().filter(|it| it.outcome == Outcome::Approved)?;
        Some(resolution.at.plus_ms(self.opened.usable_ms?))
    }

    /// Checks that the agent can use the approval now for an action with this digest.
    pub fn check_use(&self, digest: Digest, now: Timestamp) -> Result<(), Unusable> {
        let why = match self.resolution.as_ref().map(|resolution| resolution.outcome) {
            None => Some("no decision has been made yet"),
            Some(Outcome::Approved) => None,
            Some(Outcome::Rejected) => Some("it was refused"),
            Some(Outcome::Answered) => Some("it was answered, and an answer approves nothing"),
            Some(Outcome::Expired) => Some("nobody decided in time"),
            Some(Outcome::Cancelled) => Some("it was withdrawn"),
            Some(Outcome::Superseded) => Some("another interrupt replaced it"),
        };
        if let Some(why) = why {
            return Err(Unusable::NotApproved(why));
        }
        if let Some(Usage { by, at, digest }) = &self.used {
            return Err(Unusable::Used { by: by.clone(), at: *at, digest: *digest });
        }
        let approved = self.approved().ok_or(Unusable::NotApproved("its content was erased"))?;
        let of_approved = Digest::of_json(&approved);
        if let Some(at) = self.usable_until().filter(|at| *at <= now) {
            return Err(Unusable::Expired { at, digest: of_approved });
        }
        if of_approved == digest {
            Ok(())
        } else {
            Err(Unusable::Differs { digest: of_approved, approved: Box::new(approved) })
        }
    }
}
