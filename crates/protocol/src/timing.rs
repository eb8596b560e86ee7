//! Timing of an undecided interrupt: reminders, escalation and snoozing. Also the working hours of groups.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::PersonSource;

/// Reminders of the people who are asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"after_ms": 14_400_000, "every_ms": 28_800_000, "limit": 3}))]
pub struct AskReminders {
    /// Milliseconds from the request to the first reminder.
    #[schema(minimum = 1)]
    pub after_ms: u64,
    /// Milliseconds between later reminders. Without it there is only one reminder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub every_ms: Option<u64>,
    /// Maximum number of reminders. Defaults to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
}

/// One step of an escalation: other people are asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"after_ms": 86_400_000, "groups": ["finance"]}))]
pub struct AskEscalation {
    /// Milliseconds since the interrupt was opened, or since the previous step.
    #[schema(minimum = 1)]
    pub after_ms: u64,
    /// Ids of people. `starter` is the person who started the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// True if these people decide instead of the previous approvers. Otherwise they decide in addition to them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
}

/// Next step of an escalation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"at": "2026-02-01T09:30:00.000Z", "groups": ["finance"]}))]
pub struct NextEscalation {
    #[schema(format = DateTime)]
    pub at: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
}

/// Request to snooze an interrupt, for the sender only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"until": "2026-01-31T14:00:00Z"}))]
pub struct Snooze {
    /// End of the snooze, before the interrupt expires. `null` ends a snooze.
    #[schema(format = DateTime)]
    pub until: Option<String>,
}

/// A group of people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "name": "legal", "people": 3, "source": "api",
    "hours": {"time_zone": "Europe/Berlin", "week": {"mon": ["09:00-17:00"]}, "holidays": ["2026-12-25"]}
}))]
pub struct Group {
    pub name: String,
    /// Number of members who may decide.
    pub people: usize,
    /// Working hours of the group. Absent if they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// Source of the hours. Only this source can change them. Absent if there are no hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PersonSource>,
}

/// Working hours of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "time_zone": "Europe/Berlin", "week": {"mon-thu": ["09:00-17:00"], "fri": ["09:00-12:00", "13:00-15:00"]},
    "holidays": ["2026-12-25"]
}))]
pub struct Hours {
    /// IANA time zone.
    pub time_zone: String,
    /// Map from days (`mon`, `mon-fri`) to times of day. The server returns one entry for each day.
    pub week: BTreeMap<String, Vec<String>>,
    /// Dates without working hours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holidays: Vec<String>,
}
