//! People of an installation.

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
    /// Id of the person, and subject of the token with which the person signs in.
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    pub roles: Vec<PersonRole>,
    pub groups: Vec<String>,
    /// Map from the type of a channel (`email`, `slack` …) to the address of the person.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub addresses: BTreeMap<String, String>,
    /// IANA time zone of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// BCP 47 language tag of the person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
    /// Source of the person's entry. Only this source may change or remove the person.
    pub source: PersonSource,
    /// True if the person may decide on interrupts that are assigned to them.
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

    /// Returns the name of the person's role in JSON.
    pub const fn as_str(self) -> &'static str {
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
    /// The operator of this machine: the person that Holdshort created when a server was first started here.
    Local,
}

/// New state of a person. All fields of the person are replaced.
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

/// Absence of a person. An absent person may still decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"until": "2026-02-07T00:00:00Z", "delegate": "ben"}))]
pub struct Away {
    /// End of the absence. If missing, the absence lasts until it is deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// Person who decides for the absent person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delegate: Option<String>,
}

/// Result of removing a person: the open interrupts that were assigned to the person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "interrupts": [{
        "id": "int_01k6f0000000000000000000cc", "kind": "tool_approval", "title": "Archive 41 branches",
        "others_may_decide": false
    }]
}))]
pub struct RemovedPerson {
    /// Open interrupts that were assigned to the person, sorted by risk (highest first) and then by age (oldest first).
    /// At most 100 open interrupts are examined for this list.
    pub interrupts: Vec<LeftInterrupt>,
    /// True if the list may be incomplete: there were too many open interrupts, or one of them was unreadable.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub more: bool,
}

/// Open interrupt that was assigned to a removed person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LeftInterrupt {
    pub id: String,
    pub kind: Kind,
    pub title: String,
    /// True if the remaining approvers are enough to resolve the interrupt. If false, admins and operators decide.
    pub others_may_decide: bool,
}
