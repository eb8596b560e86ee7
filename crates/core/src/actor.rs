//! Actor of an event: who acted, in which role, and through which channel.

use serde::{Deserialize, Serialize};

use crate::name::is_same;

/// Role of an actor. [`rights`](crate::rights) defines the permissions of each role. At its start, a server on the
/// local machine creates two actors: an operator and an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Has every permission, except the permission to open interrupts. Is allowed to assign roles to other people.
    Admin,
    /// Starts and steers runs, and decides on interrupts.
    Operator,
    /// Decides only on interrupts that are assigned to this person.
    Reviewer,
    /// Opens interrupts, and reads only its own runs. Never decides.
    Agent,
    /// Reads everything. Never decides.
    Auditor,
    /// Holdshort itself. For example, Holdshort drives a run, applies a rule, or lets a deadline expire.
    Engine,
}

impl Role {
    /// Returns the name of the role, as the journal and responses write it.
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

/// Authenticated author of an event. A request body never determines the author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub id: String,
    pub role: Role,
    /// Channel over which the actor sent the request, such as `rest` or `cli`. `None` for the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
    /// Creator of the login link with which the actor signed in, if another person created the link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
}

/// Id of the person who has the operator token of a server that was started on the local machine.
pub const LOCAL_OPERATOR: &str = "operator";

/// Names that are reserved, so no person and no key can get them: names of the system's own actors, and names of roles.
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

    /// Returns the actor of requests that carry the token of a role. The id of this actor is the name of the role.
    pub fn for_role(role: Role, via: &str) -> Self {
        Self { id: role.as_str().to_owned(), role, via: Some(via.to_owned()), let_in_by: None }
    }

    pub fn admin(id: &str, via: &str) -> Self {
        Self { id: id.to_owned(), role: Role::Admin, via: Some(via.to_owned()), let_in_by: None }
    }

    /// Returns the id of the person who is responsible for what this actor does. If the actor signed in with another
    /// person's login link, this is the creator of the link, because the creator could have used the link. Login links
    /// of the local operator are an exception: the person who signed in is responsible, because without an identity
    /// provider all people sign in with such links.
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

/// People who are responsible for what an actor does: the actor, and the creator of the login link that the actor used
/// (see [`Actor::hand`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponsiblePeople<'a> {
    pub id: &'a str,
    pub hand: &'a str,
}

impl<'a> ResponsiblePeople<'a> {
    /// Returns the responsible people for a person who signed in without another person's login link.
    pub fn for_person(id: &'a str) -> Self {
        Self { id, hand: id }
    }

    /// Returns true if `who` is the actor or the creator of the login link. Treats different spellings of a name as
    /// equal.
    pub fn includes(self, who: &str) -> bool {
        is_same(self.id, who) || is_same(self.hand, who)
    }

    /// Returns true if the same person belongs to both sets of responsible people.
    pub fn overlaps(self, other: Self) -> bool {
        self.includes(other.id) || self.includes(other.hand)
    }
}

/// Returns the id of the person who is responsible for what the actor `id` does: the creator of the actor's login link,
/// or `id` (see [`Actor::hand`]).
pub(crate) fn hand<'a>(id: &'a str, let_in_by: Option<&'a str>) -> &'a str {
    let_in_by.filter(|by| *by != LOCAL_OPERATOR).unwrap_or(id)
}
