//! The actor of every event: who acted, in which role, through which channel.

use serde::{Deserialize, Serialize};

use crate::name::is_same;

/// Role of an actor. [`rights`](crate::rights) defines its permissions. A local start creates an operator and an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Has every permission except asking, and assigns the roles of others.
    Admin,
    /// Starts, steers and decides.
    Operator,
    /// Decides what is assigned to them.
    Reviewer,
    /// Asks, and reads its own runs. Never decides.
    Agent,
    /// Reads everything. Never decides.
    Auditor,
    /// Holdshort itself: the driver, a deadline or a rule.
    Engine,
}

impl Role {
    /// Name of the role in the journal and on the wire.
    pub const fn as_str(self) -> &'static str {
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

/// The authenticated author of an event. Never taken from a request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub id: String,
    pub role: Role,
    /// Channel of the request: `rest`, `cli`, …. `None` for the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Creator of the login link that the actor signed in with, if it was another person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
}

/// Id of the person who holds the operator token of a local start.
pub const LOCAL_OPERATOR: &str = "operator";

/// Reserved names, which a new person or key may not have: the system's own actors, and the roles.
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

    /// Returns the actor for the token of a role. Its id is the name of the role.
    pub fn for_role(role: Role, via: &str) -> Self {
        Self { id: role.as_str().to_owned(), role, via: Some(via.to_owned()), let_in_by: None }
    }

    pub fn admin(id: &str, via: &str) -> Self {
        Self { id: id.to_owned(), role: Role::Admin, via: Some(via.to_owned()), let_in_by: None }
    }

    /// Returns the person who may be the true actor: the creator of the login link, who could have used it alone.
    /// For a link of the local operator it is the actor: such a link authenticates as the named person alone. The
    /// holder of the operator token owns the server, and without an identity provider all people sign in through such
    /// links.
    pub fn hand(&self) -> &str {
        hand(&self.id, self.let_in_by.as_deref())
    }

    pub fn responsible_people(&self) -> ResponsiblePeople<'_> {
        ResponsiblePeople { id: &self.id, hand: self.hand() }
    }

    pub fn agent(id: &str, via: &str) -> Self {
        Self { id: id.to_owned(), role: Role::Agent, via: Some(via.to_owned()), let_in_by: None }
    }
}

/// People responsible for a deed: the actor, and the creator of the actor's login link (see [`Actor::hand`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponsiblePeople<'a> {
    pub id: &'a str,
    pub hand: &'a str,
}

impl<'a> ResponsiblePeople<'a> {
    /// Returns the identity of a person who signed in without a link of another person.
    pub fn for_person(id: &'a str) -> Self {
        Self { id, hand: id }
    }

    /// Returns true if `who` names the actor or the link's creator, in any form of the name.
    pub fn includes(self, who: &str) -> bool {
        is_same(self.id, who) || is_same(self.hand, who)
    }

    /// Returns true if the two have a person in common.
    pub fn overlaps(self, other: Self) -> bool {
        self.includes(other.id) || self.includes(other.hand)
    }
}

/// Implements [`Actor::hand`].
pub(crate) fn hand<'a>(id: &'a str, let_in_by: Option<&'a str>) -> &'a str {
    let_in_by.filter(|by| *by != LOCAL_OPERATOR).unwrap_or(id)
}
