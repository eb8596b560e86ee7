//! Table of permissions: for each role and each permission, the resources to which the permission extends.
//!
//! Each HTTP route names the permission that it needs. The core checks the table again when it makes a decision. The
//! table does not contain the owner and the assignment of a resource. The module of the resource checks the owner and
//! the assignment.

use std::collections::BTreeSet;

use crate::actor::Role;

/// Permission to perform a group of related operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Permission {
    /// Permission to read runs, interrupts and events.
    Read,
    /// Permission to start, message, pause and cancel runs, and to open and close sessions.
    Steer,
    /// Permission to open interrupts.
    Ask,
    /// Permission to decide on interrupts, and to claim, comment on and snooze them.
    Decide,
    /// Permission to reassign and delegate interrupts, and to create links with which a person decides.
    Assign,
    /// Permission to freeze and unfreeze the installation or parts of it, to resume runs and sessions, and to revoke
    /// grants.
    Halt,
    /// Permission to manage people, keys, channels and policy.
    Administer,
    /// Permission to read the audit log, receipts and exports.
    Audit,
    /// Permission to create links with which a browser signs in as any person.
    SignIn,
}

/// Resources to which a permission extends. The variants are in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    Nothing,
    /// Resources that the caller created. Of runs, includes only external runs.
    Own,
    /// Resources that are assigned to the caller.
    Assigned,
    /// Resources that are assigned to the caller or to nobody.
    Unassigned,
    All,
}

use Extent::{All, Assigned, Nothing, Own, Unassigned};

/// Roles in the order of the columns of [`TABLE`]. The engine has no column, because it is no user and cannot sign in.
pub const ROLES: [Role; 5] = [Role::Admin, Role::Operator, Role::Reviewer, Role::Agent, Role::Auditor];

/// Table of permissions. Each row lists the extent of one permission per role, in the order of [`ROLES`].
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

/// Returns the extent of a role's permission: the resources to which the permission applies. If the table has no column
/// for the role, returns [`Extent::Nothing`].
pub fn extent(role: Role, permission: Permission) -> Extent {
    let column = ROLES.iter().position(|of| *of == role);
    let row = TABLE.iter().find(|(of, _)| *of == permission);
    column.zip(row).and_then(|(column, (_, extents))| extents.get(column).copied()).unwrap_or(Nothing)
}

/// Returns the role in which a person uses a permission: the role with the widest extent. If several roles have this
/// extent, returns the weakest of these roles. `None` if no role of the person has the permission.
pub fn acting(roles: &BTreeSet<Role>, permission: Permission) -> Option<Role> {
    let theirs = ROLES.into_iter().filter(|role| roles.contains(role));
    // `max_by_key` returns the last of equal items, and `ROLES` begins with the strongest role.
    theirs.filter(|role| extent(*role, permission) != Nothing).max_by_key(|role| extent(*role, permission))
}

impl Permission {
    /// Returns the name of the permission, as documents write it, such as `read` or `sign_in`.
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
