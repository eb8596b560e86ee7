//! What is withheld from whom of what an interrupt shows: places of its payload, by role.
//!
//! The rules stand in the facts of the interrupt, so they are those that held when it was opened. [`cover`] makes what is
//! shown to whom something is withheld from; [`restore`] puts into their edit what they have not seen.

mod cover;
mod place;
mod restore;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use cover::{Cover, Covered};

use super::{Effect, Interrupt};
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

impl Effect {
    /// Whether whoever chooses it has to see what is made of the payload: what a grant covers, what a trial did.
    pub fn is_of_what_is_made(self) -> bool {
        matches!(self, Self::Grant | Self::ProceedWithSome)
    }
}

impl Interrupt {
    /// The places that are withheld from whoever sees as this role.
    pub(crate) fn withheld_from(&self, sees: Role) -> Vec<&str> {
        let rules = self.opened.withhold.iter().filter(|rule| rule.from.contains(&sees));
        rules.flat_map(|rule| &rule.fields).map(String::as_str).collect()
    }

    /// The member of the payload that an edit takes the place of; `None`: it takes the place of all of it.
    fn edited_member(&self) -> Option<&'static str> {
        let member = self.opened.kind.row().edits?;
        let payload = self.content.get("payload")?;
        payload.get(member).filter(|member| !member.is_null()).map(|_| member)
    }

    /// An edit in the form of the payload, so that a place means the same in both.
    pub(crate) fn as_payload(&self, edit: Value) -> Value {
        match self.edited_member() {
            Some(member) => json!({ member: edit }),
            None => edit,
        }
    }

    /// The edit again.
    fn as_edit(&self, mut payload: Value) -> Value {
        match self.edited_member() {
            Some(member) => payload.get_mut(member).map(Value::take).unwrap_or_default(),
            None => payload,
        }
    }

    fn payload(&self) -> Value {
        self.content.get("payload").cloned().unwrap_or_default()
    }
}

/// What stands in the place of a value that is withheld: the place where it was, and of an edit the decision that brought it.
fn mark(place: &str, edit_of: Option<u64>) -> Value {
    match edit_of {
        Some(seq) => json!({ "withheld": place, "edit_of": seq }),
        None => json!({ "withheld": place }),
    }
}
