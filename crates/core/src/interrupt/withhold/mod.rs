//! Withheld values of an interrupt: values in the payload that people with certain roles are not allowed to see.
//!
//! The event that opens an interrupt stores the rules that hide values. `cover` builds the redacted view of an
//! interrupt. A person may edit a payload with hidden values. `restore` then puts the hidden values back into the edit.

mod cover;
mod payload;
mod pointers;
mod restore;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use cover::{Cover, RedactedInterrupt};

use crate::actor::Role;
use crate::limits;
use crate::people::People;
use crate::rights::{self, Permission};
use crate::schema::Problem;

/// Rule that hides values of the payload from people with certain roles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withhold {
    pub from: BTreeSet<Role>,
    /// JSON pointers to the values of the payload that are hidden. In a pointer, `*` matches any one member or element.
    pub fields: Vec<String>,
}

/// Roles from which values of an interrupt can be hidden. These roles see only the interrupts that are assigned to
/// them. From other roles, values cannot be hidden. People with another role read the values in the events of the run,
/// and an agent wrote the values itself.
pub const BLINDED: [Role; 1] = [Role::Reviewer];

/// Returns the reason why values cannot be hidden from this role. `None` if values can be hidden from the role.
pub fn flaw_of_role(role: Role) -> Option<String> {
    let known: Vec<String> = BLINDED.iter().map(|role| format!("`{}`", role.as_str())).collect();
    let message = || {
        let sees = if role == Role::Agent { "what it wrote" } else { "everything" };
        format!(
            "nothing can be withheld from the role `{}`, because it sees {sees}; name only {}",
            role.as_str(),
            known.join(", ")
        )
    };
    (!BLINDED.contains(&role)).then(message)
}

/// Returns the reason why a text is not a JSON pointer to a part of a payload. `None` if the text is such a pointer.
pub fn flaw_of_field(field: &str) -> Option<String> {
    if field.len() > limits::WITHHELD_BYTES {
        return Some(format!("is longer than {} bytes", limits::WITHHELD_BYTES));
    }
    if field.is_empty() || field == "/" {
        return Some("is the whole payload: nothing would be left to decide on".to_owned());
    }
    if !field.starts_with('/') {
        return Some("is not a JSON pointer into the payload: begin it with `/`".to_owned());
    }
    let is_escaped = field.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (!is_escaped).then(|| "is not a JSON pointer: write `~` as `~0`, and `/` in a name as `~1`".to_owned())
}

/// Returns the problems of rules that hide values. The JSON pointers of the problems begin with `at`.
pub fn check(rules: &[Withhold], at: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    if rules.len() > limits::WITHHOLD_RULES {
        problems.push(Problem::new(at, format!("has more than {} rules", limits::WITHHOLD_RULES)));
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
            let message = format!("has more than {} fields", limits::WITHHELD_FIELDS);
            problems.push(Problem::new(format!("{at}/{i}/fields"), message));
        }
        for (j, field) in rule.fields.iter().enumerate() {
            problems
                .extend(flaw_of_field(field).map(|why| Problem::new(format!("{at}/{i}/fields/{j}"), why)));
        }
    }
    problems
}

/// Returns the role of the person that gives the widest view of an interrupt. `as_role` is the role with which the
/// person signed in.
pub fn sees_as(id: &str, as_role: Role, people: &People) -> Role {
    let mut roles = people.roles(id);
    roles.insert(as_role);
    rights::acting(&roles, Permission::Read).unwrap_or(as_role)
}
