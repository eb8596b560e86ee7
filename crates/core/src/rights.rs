//! Who may do what: one table, permission × role.
//!
//! Routes name the permission that they need and nothing else; the core asks this table once more where it decides.
//! What is one's own, and what is assigned to whom, is for the one who knows the thing to say.

use std::collections::BTreeSet;

use crate::actor::Role;

/// What somebody may do, or not.
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
    /// Reassign, delegate, hand out links to decide by.
    Assign,
    /// Freeze and unfreeze the installation, resume runs and sessions, revoke grants.
    Halt,
    /// People, keys, channels, policy.
    Administer,
    /// Audit, receipts, export.
    Audit,
    /// Make links that sign a browser in, as any of the people.
    SignIn,
}

/// How far a permission reaches, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    Nothing,
    /// What they began themselves: of runs, those of other frameworks alone.
    Own,
    /// What is assigned to them.
    Assigned,
    /// What is assigned to them, and what is assigned to nobody.
    Unassigned,
    All,
}

use Extent::{All, Assigned, Nothing, Own, Unassigned};

/// The roles of the table, in its order. The engine is none of them: nobody can sign in as it.
pub const ROLES: [Role; 5] = [Role::Admin, Role::Operator, Role::Reviewer, Role::Agent, Role::Auditor];

/// The table: a row for each permission, a column for each of [`ROLES`].
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

/// How far a permission reaches for a role. What is not in the table reaches nothing.
pub fn extent(role: Role, permission: Permission) -> Extent {
    let column = ROLES.iter().position(|of| *of == role);
    let row = TABLE.iter().find(|(of, _)| *of == permission);
    column.zip(row).and_then(|(column, (_, extents))| extents.get(column).copied()).unwrap_or(Nothing)
}

/// In which of somebody's roles they do what needs a permission: the one that it reaches farthest for, and of those the
/// one that can do the least else. `None` without a role, or where it reaches nothing for all of them.
pub fn acting(roles: &BTreeSet<Role>, permission: Permission) -> Option<Role> {
    let theirs = ROLES.into_iter().filter(|role| roles.contains(role));
    // Of equal ones the last is taken: the roles stand in the order of what they may.
    theirs.filter(|role| extent(*role, permission) != Nothing).max_by_key(|role| extent(*role, permission))
}

impl Permission {
    /// Its name in documents: `read`, `sign_in`.
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
