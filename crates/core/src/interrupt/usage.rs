//! Use of approvals by external agents, which execute approved actions themselves. Each approval can be used once. To
//! use an approval, the agent sends the digest of the action that it is about to perform. The digest must match the
//! approved action. The approved action is the payload that the agent sent, with the approver's edit applied.

use serde_json::Value;

use super::{About, Interrupt, Outcome, Usage};
use crate::digest::Digest;
use crate::gate::foreign::ForeignCall;
use crate::gate::foreign_trial::ForeignTrial;
use crate::kept_changes::selected;
use crate::time::Timestamp;

/// Reason why an approval cannot be used. The attempt changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The interrupt is not approved. The value is the reason, as the end of the error message.
    #[error("the interrupt is not approved: {0}")]
    NotApproved(&'static str),
    #[error("the approval was already used at {at}, by `{by}`")]
    Used { by: String, at: Timestamp, digest: Digest },
    #[error("the approval has expired: it could be used until {at}")]
    Expired { at: Timestamp, digest: Digest },
    #[error("the approved action does not have this digest")]
    Differs { digest: Digest, approved: Box<Value> },
}

/// Changes that an external agent is allowed to write after an approval.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleasedChanges {
    /// Trial with only the approved changes.
    pub trial: ForeignTrial,
    /// Paths whose changes the approver did not approve.
    pub dropped: Vec<String>,
}

impl Interrupt {
    /// Returns the external agent's call about which the interrupt asks. `None` if the interrupt is not about a call,
    /// or if its content was erased.
    pub fn foreign_call(&self) -> Option<ForeignCall> {
        serde_json::from_value(self.content.get("call")?.clone()).ok()
    }

    /// Returns the trial in which the server ran the call. `None` if there was no trial, or if its content was erased.
    pub fn foreign_trial(&self) -> Option<ForeignTrial> {
        serde_json::from_value(self.content.get("trial")?.clone()).ok()
    }

    /// Returns the call of an external agent as a decision with this edit approves it, and the trial of the call. If
    /// there was a trial, the edit is the list of paths whose changes are approved. If there was no trial, the edit
    /// replaces the arguments of the call.
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

    /// Returns the approved changes of a call that ran in a trial, and the paths that were not approved. `None` if the
    /// call was not approved, if there was no trial, or if the content was erased.
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

    /// Returns the approved action. The action has the form of the payload that the agent sent. `None` if the interrupt
    /// is not approved, or if its content was erased.
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

    /// Returns the time until which the agent can use the approval. `None` if the interrupt is not approved, or if the
    /// approval can be used without a time limit.
    pub fn usable_until(&self) -> Option<Timestamp> {
        let resolution = self.resolution.as_ref().filter(|it| it.outcome == Outcome::Approved)?;
        Some(resolution.at.plus_ms(self.opened.usable_ms?))
    }

    /// Checks that the agent can use the approval now. `digest` is the digest of the action that the agent is about to
    /// perform.
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
