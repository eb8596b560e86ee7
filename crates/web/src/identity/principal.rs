//! Authenticated principals, and the role in which a principal acts.

use std::collections::BTreeSet;

use holdshort_core::actor::{Actor, Role};
use holdshort_core::id::KeyId;
use holdshort_core::rights::{self, Permission};
use holdshort_core::system::keys::Key;

/// Authenticated caller. A principal must never be created from data in the body of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// Id of the principal in events.
    pub id: String,
    /// Display name of the principal, if its credentials contain one. No decision of the server depends on this name.
    pub name: Option<String>,
    /// Other names of the principal in its token, such as an e-mail address or a user name. A client may use one of
    /// these names for the principal. No permission depends on them.
    pub aliases: BTreeSet<String>,
    /// Roles of the principal. Without a role, the principal has no permissions.
    pub roles: BTreeSet<Role>,
    pub groups: BTreeSet<String>,
    pub how: AuthMethod,
}

/// Kind of credential with which a principal was authenticated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuthMethod {
    /// Token of the data folder, which belongs to the operator or to agents.
    Token,
    /// Login of a browser or terminal.
    Login {
        /// Person who created the login link with which the principal signed in. `None` if the principal created the
        /// link.
        let_in_by: Option<String>,
    },
    Key(KeyId),
    /// Token (JWT) of an issuer, which is an external identity service.
    Jwt {
        issuer: String,
    },
}

impl Principal {
    /// Returns the principal of the data folder's owner, who is also an administrator.
    pub fn local_operator(how: AuthMethod) -> Self {
        Self::local("operator", [Role::Admin, Role::Operator], how)
    }

    /// Returns the principal of the data folder's token for the role `role`.
    pub fn of_role(role: Role) -> Self {
        Self::local(&Actor::for_role(role, "").id, [role], AuthMethod::Token)
    }

    pub fn of_key(key: &Key) -> Self {
        Self::local(&key.name, [key.role], AuthMethod::Key(key.id.clone()))
    }

    fn local(id: &str, roles: impl Into<BTreeSet<Role>>, how: AuthMethod) -> Self {
        Self {
            id: id.to_owned(),
            name: None,
            aliases: BTreeSet::new(),
            roles: roles.into(),
            groups: BTreeSet::new(),
            how,
        }
    }

    /// Returns the role that gives the principal a permission, or `None` if no role of the principal gives it.
    pub fn acting(&self, permission: Permission) -> Option<Role> {
        rights::acting(&self.roles, permission)
    }

    /// Returns the principal as the actor of an event, in the role `role`.
    pub fn actor(&self, role: Role, via: &str) -> Actor {
        let let_in_by =
            if let AuthMethod::Login { let_in_by } = &self.how { let_in_by.clone() } else { None };
        Actor { id: self.id.clone(), role, via: Some(via.to_owned()), let_in_by }
    }

    /// Returns true if `agent` is the principal's only role.
    pub fn is_agent(&self) -> bool {
        self.roles.contains(&Role::Agent) && !self.is_person()
    }

    /// Returns true if the principal has a role that people can have. People are exempt from the rate limits and the
    /// connection quota of agents. A principal without roles has the same limits as an agent.
    pub fn is_person(&self) -> bool {
        self.roles.iter().any(|role| *role != Role::Agent)
    }
}
