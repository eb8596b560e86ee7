//! What is withheld from whom of what an interrupt shows: places of its payload, by role.
//!
//! The rules stand in the facts of the interrupt, so they are those that held when it was opened. [`cover`] makes what is
//! shown to whom something is withheld from; [`restore`] puts into their edit what they have not seen.

mod cover;
mod payload;
mod place;
mod restore;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use cover::{Cover, Covered};

use crate::actor::Role;
use crate::limits;
use crate::people::People;
use crate::rights::{self, Permission};
use crate::schema::Problem;

/// Some places of the payload that are withheld from some roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withhold {
    pub from: BTreeSet<Role>,
    /// JSON pointers into the payload, in which `*` is any one member or element.
    pub fields: Vec<String>,
}

/// Roles that something can be withheld from: those that see what is assigned to them and no more. Whoever sees everything
/// finds it in the events of the run; an agent wrote it.
pub const BLINDED: [Role; 1] = [Role::Reviewer];

/// Why nothing can be withheld from a role; `None` where it can.
pub fn flaw_of_role(role: Role) -> Option<String> {
    let known: Vec<String> = BLINDED.iter().map(|role| format!("`{}`", role.word())).collect();
    let message = || {
        let sees = if role == Role::Agent { "what it wrote" } else { "everything" };
        format!("`{}` sees {sees}: only {} may be named", role.word(), known.join(", "))
    };
    (!BLINDED.contains(&role)).then(message)
}

/// Why a text is no place of a payload; `None` where it is one.
pub fn flaw_of_field(field: &str) -> Option<String> {
    if field.len() > limits::WITHHELD_BYTES {
        return Some(format!("is longer than {} bytes", limits::WITHHELD_BYTES));
    }
    if field.is_empty() || field == "/" {
        return Some("is the whole payload: nobody could decide on what is left".to_owned());
    }
    if !field.starts_with('/') {
        return Some("is no JSON pointer into the payload: it begins with `/`".to_owned());
    }
    let is_escaped = field.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (!is_escaped).then(|| "is no JSON pointer: `~` is written `~0`, and `/` in a name `~1`".to_owned())
}

/// What is wrong with rules.
pub fn check(rules: &[Withhold], at: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if rules.len() > limits::WITHHOLD_RULES {
        problems.push(Problem::new(at, format!("holds more than {}", limits::WITHHOLD_RULES)));
    }
    for (i, rule) in rules.iter().enumerate() {
        if rule.from.is_empty() {
            problems.push(Problem::new(format!("{at}/{i}/from"), "names no role"));
        }
        for (j, role) in rule.from.iter().enumerate() {
            problems.extend(flaw_of_role(*role).map(|why| Problem::new(format!("{at}/{i}/from/{j}"), why)));
        }
        if rule.fields.is_empty() {
            problems.push(Problem::new(format!("{at}/{i}/fields"), "names no field"));
        }
        if rule.fields.len() > limits::WITHHELD_FIELDS {
            let message = format!("holds more than {}", limits::WITHHELD_FIELDS);
            problems.push(Problem::new(format!("{at}/{i}/fields"), message));
        }
        for (j, field) in rule.fields.iter().enumerate() {
            problems
                .extend(flaw_of_field(field).map(|why| Problem::new(format!("{at}/{i}/fields/{j}"), why)));
        }
    }
    problems
}

/// As which role somebody sees interrupts: the one of theirs that sees most. `as_role`: the one that they act in.
pub fn sees_as(id: &str, as_role: Role, people: &People) -> Role {
    let mut roles = people.roles(id);
    roles.insert(as_role);
    rights::acting(&roles, Permission::Read).unwrap_or(as_role)
}
