//! Who somebody is, as authenticated, and in which of their roles they act.

use std::collections::BTreeSet;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::id::KeyId;
use holdshort_core::rights::{self, Permission};
use holdshort_core::system::keys::Key;

/// Somebody who has proved who they are. Never made from a request's body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The actor id of what they do.
    pub id: String,
    /// What people call them, where that is known. Nothing is decided by it.
    pub name: Option<String>,
    /// Without one they may do nothing.
    pub roles: BTreeSet<Role>,
    pub groups: BTreeSet<String>,
    pub how: How,
}

/// What proved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// A token of the data folder.
    Token,
    /// A browser's login.
    Login {
        /// Whoever made the link that began it, where that is somebody else.
        let_in_by: Option<String>,
    },
    Key(KeyId),
    /// A token of an issuer.
    Jwt {
        issuer: String,
    },
}

impl Principal {
    /// Whoever owns the data folder: the administrator, too.
    pub fn local_operator(how: How) -> Self {
        Self::local("operator", [Role::Admin, Role::Operator], how)
    }

    /// Somebody with the token of one role.
    pub fn of_role(role: Role) -> Self {
        Self::local(&Actor::of(role, "").id, [role], How::Token)
    }

    pub fn of_key(key: &Key) -> Self {
        Self::local(&key.name, [key.role], How::Key(key.id.clone()))
    }

    fn local(id: &str, roles: impl Into<BTreeSet<Role>>, how: How) -> Self {
        Self { id: id.to_owned(), name: None, roles: roles.into(), groups: BTreeSet::new(), how }
    }

    /// The one of their roles in which they do what needs a permission; `None` where none of them may.
    pub fn acting(&self, permission: Permission) -> Option<Role> {
        rights::acting(&self.roles, permission)
    }

    /// They, in a role of theirs.
    pub fn actor(&self, role: Role, via: &str) -> Actor {
        let let_in_by = if let How::Login { let_in_by } = &self.how { let_in_by.clone() } else { None };
        Actor { id: self.id.clone(), role, via: Some(via.to_owned()), let_in_by }
    }

    /// Of agents alone, and not of whoever may do nothing.
    pub fn is_agent(&self) -> bool {
        self.roles.contains(&Role::Agent) && !self.is_person()
    }

    /// Agents have a rate and a share of the connections; people have what is left. Whoever may do nothing has what
    /// agents have.
    pub fn is_person(&self) -> bool {
        self.roles.iter().any(|role| *role != Role::Agent)
    }
}
