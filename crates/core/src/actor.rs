//! Who did it: the actor of every event.

use serde::{Deserialize, Serialize};

use crate::name::is_same;

/// What an actor is; what that lets them do is in [`rights`](crate::rights). A local start hands out two of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Does everything but ask, and says who else may.
    Admin,
    /// Starts, steers and decides.
    Operator,
    /// Decides what is assigned to them.
    Reviewer,
    /// Asks and reads its own. Never decides.
    Agent,
    /// Reads everything. Never decides.
    Auditor,
    /// Holdshort itself: the driver, a deadline, a rule.
    Engine,
}

impl Role {
    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Reviewer => "reviewer",
            Self::Agent => "agent",
            Self::Auditor => "auditor",
            Self::Engine => "engine",
        }
    }
}

/// The author of an event, as authenticated. Never taken from a request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub id: String,
    pub role: Role,
    /// The channel it came through: `rest`, `cli`, …; `None` for the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Whoever made the link that they signed in with, where that is somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
}

/// The person of a local start: whoever has the operator's token.
pub const LOCAL_OPERATOR: &str = "operator";

/// Names that nobody may have who is made here: who acts by themselves, and the roles by their names.
pub const RESERVED: [&str; 13] = [
    "admin",
    "agent",
    "anonymous",
    "anybody",
    "auditor",
    "engine",
    "holdshort",
    "nobody",
    "operator",
    "reviewer",
    "starter",
    "sys",
    "system",
];

impl Actor {
    pub fn engine() -> Self {
        Self { id: "engine".to_owned(), role: Role::Engine, via: None, let_in_by: None }
    }

    pub fn operator(via: &str) -> Self {
        Self {
            id: LOCAL_OPERATOR.to_owned(),
            role: Role::Operator,
            via: Some(via.to_owned()),
            let_in_by: None,
        }
    }

    /// Somebody with the token of a role: until people have names they are called what they are.
    pub fn of(role: Role, via: &str) -> Self {
        Self { id: role.word().to_owned(), role, via: Some(via.to_owned()), let_in_by: None }
    }

    pub fn admin(id: &str, via: &str) -> Self {
        Self { id: id.to_owned(), role: Role::Admin, via: Some(via.to_owned()), let_in_by: None }
    }

    /// Whose it is, too, what they do: whoever let them in may have signed in so themselves. What the local operator let in
    /// is that person's alone: whoever has the operator's token owns the server, and lets in everybody where there is no
    /// provider.
    pub fn hand(&self) -> &str {
        hand(&self.id, self.let_in_by.as_deref())
    }

    pub fn whose(&self) -> Whose<'_> {
        Whose { id: &self.id, hand: self.hand() }
    }

    pub fn agent(id: &str, via: &str) -> Self {
        Self { id: id.to_owned(), role: Role::Agent, via: Some(via.to_owned()), let_in_by: None }
    }
}

/// Whose something is that somebody did: theirs, and of whoever let them in (see [`Actor::hand`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whose<'a> {
    pub id: &'a str,
    pub hand: &'a str,
}

impl<'a> Whose<'a> {
    /// Of somebody whom nobody let in.
    pub fn alone(id: &'a str) -> Self {
        Self { id, hand: id }
    }

    /// Returns true if it is `who`'s, in whatever form the name is written.
    pub fn is_of(self, who: &str) -> bool {
        is_same(self.id, who) || is_same(self.hand, who)
    }

    /// Whether one of those whose this is is one of those whose the other is.
    pub fn meets(self, other: Self) -> bool {
        self.is_of(other.id) || self.is_of(other.hand)
    }
}

/// See [`Actor::hand`].
pub(crate) fn hand<'a>(id: &'a str, let_in_by: Option<&'a str>) -> &'a str {
    let_in_by.filter(|by| *by != LOCAL_OPERATOR).unwrap_or(id)
}
