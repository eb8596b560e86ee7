//! The people of an installation.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::interrupt::Kind;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "id": "anna", "name": "Anna Berg", "roles": ["reviewer"], "groups": ["legal"],
    "addresses": {"email": "anna@example.org"}, "time_zone": "Europe/Berlin", "language": "de",
    "source": "api", "may_decide": true
}))]
pub struct Person {
    /// The subject that they sign in as.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub roles: Vec<PersonRole>,
    pub groups: Vec<String>,
    /// Channel → address: `email`, `slack` …
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
    /// An IANA time zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// A BCP 47 language tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
    /// Where they were read from: nobody else changes them.
    pub source: PersonSource,
    /// Whether they may decide on what is assigned to them.
    pub may_decide: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PersonRole {
    Admin,
    Operator,
    Reviewer,
    Auditor,
}

impl PersonRole {
    pub const ALL: [Self; 4] = [Self::Admin, Self::Operator, Self::Reviewer, Self::Auditor];

    /// As it is written.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Operator => "operator",
            Self::Reviewer => "reviewer",
            Self::Auditor => "auditor",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum PersonSource {
    File,
    Provider,
    Api,
    /// The operator of a local start.
    Local,
}

/// A person as they are to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Anna Berg", "roles": ["reviewer"], "groups": ["legal"]}))]
pub struct SetPerson {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[schema(min_items = 1)]
    pub roles: Vec<PersonRole>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
}

/// Out of the office. They may decide all the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"until": "2026-02-07T00:00:00Z", "delegate": "ben"}))]
pub struct Away {
    /// Without it: until it is taken back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Who decides in their place meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<String>,
}

/// What somebody who was removed leaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupts": [{
        "id": "int_01k6f0000000000000000000cc", "kind": "tool_approval", "title": "Archive 41 branches",
        "others_may_decide": false
    }]
}))]
pub struct RemovedPerson {
    /// Open interrupts whose assignment named them, the riskiest and oldest first. At most 100 are looked at.
    pub interrupts: Vec<LeftInterrupt>,
    /// There may be more: there were more than are looked at, or one could not be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// An open interrupt that named somebody who was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftInterrupt {
    pub id: String,
    pub kind: Kind,
    pub title: String,
    /// Whether those whom it asks can settle it without them. Where they can not, it goes to admins and operators.
    pub others_may_decide: bool,
}
