//! Task id that a client chooses. It belongs to a person: two people can use the same name for different tasks.

use holdshort_core::digest::Digest;
use holdshort_protocol::Code;
use holdshort_web::auth::Caller;
use holdshort_web::limits::IDEMPOTENCY_KEY_BYTES;
use holdshort_web::problem::{Answer, Refused};
use serde_json::json;

/// Task id that a client chose, with the person who owns the task.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct TaskId {
    person: String,
    name: String,
}

impl TaskId {
    pub(super) fn new(caller: &Caller, name: &str) -> Answer<Self> {
        let fits = (1..=IDEMPOTENCY_KEY_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
        if !fits {
            let rule =
                format!("a task's id has 1 to {IDEMPOTENCY_KEY_BYTES} bytes and no control characters");
            return Err(Refused::new(Code::NotFound, rule));
        }
        Ok(Self { person: caller.actor.id.clone(), name: name.to_owned() })
    }

    /// Returns the task id that the client chose.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn digest(&self) -> Digest {
        Digest::of_json(&json!([self.person, self.name]))
    }

    /// Returns true if both tasks belong to one person.
    pub(super) fn has_owner_of(&self, other: &Self) -> bool {
        self.person == other.person
    }

    /// Returns the scope of the idempotency key that this task id becomes.
    pub(super) fn scope(&self) -> String {
        format!("{} /edges/mars/ws", self.person)
    }
}
