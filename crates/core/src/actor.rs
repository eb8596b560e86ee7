//! Who did it: the actor of every event.

use serde::{Deserialize, Serialize};

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

/// The author of an event, as authenticated. Never taken from a request body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actor {
    pub id: String,
    pub role: Role,
    /// The channel it came through: `rest`, `cli`, …; `None` for the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<String>,
}

/// Names that nobody may have who is made here: who acts by themselves, and the roles by their names.
pub const RESERVED: [&str; 10] = [
    "admin",
    "agent",
    "anonymous",
    "auditor",
    "engine",
    "holdshort",
    "operator",
    "reviewer",
    "sys",
    "system",
];

/// Whoever may be named to decide: everybody whom a local start knows.
pub const DECIDERS: [&str; 1] = ["operator"];

/// Why nobody of this name can decide, in words; `None` where somebody can. What is assigned only to somebody who is
/// not there waits for ever, so neither a workflow nor an agent's request may name them.
pub fn unknown_decider(name: &str) -> Option<String> {
    if DECIDERS.contains(&name) {
        return None;
    }
    let there = DECIDERS.map(|name| format!("`{name}`")).join(", ");
    Some(format!("nobody here is `{name}`; who decides is one of: {there}"))
}

impl Actor {
    pub fn engine() -> Self {
        Self { id: "engine".to_owned(), role: Role::Engine, via: None }
    }

    pub fn operator(via: &str) -> Self {
        Self { id: DECIDERS[0].to_owned(), role: Role::Operator, via: Some(via.to_owned()) }
    }

    /// Somebody with the token of a role: until people have names they are called what they are.
    pub fn of(role: Role, via: &str) -> Self {
        let id = match role {
            Role::Admin => "admin",
            Role::Operator => DECIDERS[0],
            Role::Reviewer => "reviewer",
            Role::Agent => "agent",
            Role::Auditor => "auditor",
            Role::Engine => "engine",
        };
        Self { id: id.to_owned(), role, via: Some(via.to_owned()) }
    }

    pub fn admin(id: &str, via: &str) -> Self {
        Self { id: id.to_owned(), role: Role::Admin, via: Some(via.to_owned()) }
    }

    pub fn agent(id: &str, via: &str) -> Self {
        Self { id: id.to_owned(), role: Role::Agent, via: Some(via.to_owned()) }
    }
}
