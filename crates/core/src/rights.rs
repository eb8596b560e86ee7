//! The table of rights: one extent for each permission and role.
//!
//! A route names only the permission that it needs. The core checks the table again where it decides.
//! Ownership and assignment are known to the module of each resource, not to this one.

use std::collections::BTreeSet;

use crate::actor::Role;

/// Permission for a group of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Read runs, interrupts and events.
    Read,
    /// Start, message, pause and cancel runs; open and close sessions.
    Steer,
    /// Open interrupts.
    Ask,
    /// Decide, claim, comment, snooze.
    Decide,
    /// Reassign, delegate, create decision links.
    Assign,
    /// Freeze and unfreeze the installation, resume runs and sessions, revoke grants.
    Halt,
    /// Manage people, keys, channels and policy.
    Administer,
    /// Read audit, receipts and exports.
    Audit,
    /// Create links that sign a browser in as any person.
    SignIn,
}

/// Extent of a permission, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    Nothing,
    /// Resources that the caller began. Among runs, only external ones.
    Own,
    /// Resources assigned to the caller.
    Assigned,
    /// Resources assigned to the caller, and resources without an assignment.
    Unassigned,
    All,
}

use Extent::{All, Assigned, Nothing, Own, Unassigned};

/// Roles of the table, in column order. The engine has no column: it cannot sign in.
pub const ROLES: [Role; 5] = [Role::Admin, Role::Operator, Role::Reviewer, Role::Agent, Role::Auditor];

/// Extents: one row for each permission, one column for each of [`ROLES`].
pub const TABLE: [(Permission, [Extent; ROLES.len()]); 9] = [
    (Permission::Read, [All, All, Assigned, Own, All]),
    (Permission::Steer, [All, All, Nothing, Own, Nothing]),
    (Permission::Ask, [Nothing, All, Nothing, Own, Nothing]),
    (Permission::Decide, [Unassigned, Unassigned, Assigned, Nothing, Nothing]),
    (Permission::Assign, [All, All, Assigned, Nothing, Nothing]),
    (Permission::Halt, [All, All, Nothing, Nothing, Nothing]),
    (Permission::Administer, [All, Nothing, Nothing, Nothing, Nothing]),
    (Permission::Audit, [All, All, Assigned, Own, All]),
    (Permission::SignIn, [All, Nothing, Nothing, Nothing, Nothing]),
];

/// Returns the extent of a permission for a role. A pair outside the table gets [`Extent::Nothing`].
pub fn extent(role: Role, permission: Permission) -> Extent {
    let column = ROLES.iter().position(|of| *of == role);
    let row = TABLE.iter().find(|(of, _)| *of == permission);
    column.zip(row).and_then(|(column, (_, extents))| extents.get(column).copied()).unwrap_or(Nothing)
}

/// Selects the role in which a person uses a permission: the role with the widest extent, and among equal ones the
/// weakest role. Returns `None` if no role has the permission.
pub fn acting(roles: &BTreeSet<Role>, permission: Permission) -> Option<Role> {
    let theirs = ROLES.into_iter().filter(|role| roles.contains(role));
    // `max_by_key` returns the last of equal items, and the roles are ordered from the strongest to the weakest.
    theirs.filter(|role| extent(*role, permission) != Nothing).max_by_key(|role| extent(*role, permission))
}

impl Permission {
    /// Name of the permission in documents: `read`, `sign_in`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Steer => "steer",
            Self::Ask => "ask",
            Self::Decide => "decide",
            Self::Assign => "assign",
            Self::Halt => "halt",
            Self::Administer => "administer",
            Self::Audit => "audit",
            Self::SignIn => "sign_in",
        }
    }
}
