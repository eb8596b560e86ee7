//! Timing of an open interrupt: reminders, escalation and snoozing. Also the working hours of groups of approvers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::PersonSource;

/// Reminders to the approvers of an open interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"after_ms": 14_400_000, "every_ms": 28_800_000, "limit": 3}))]
pub struct AskReminders {
    /// Milliseconds from the request to the first reminder.
    #[schema(minimum = 1)]
    pub after_ms: u64,
    /// Milliseconds between two later reminders. If absent, only one reminder is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub every_ms: Option<u64>,
    /// Maximum number of reminders for one interrupt. Defaults to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
}

/// One step of an escalation. After the step, more people may decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"after_ms": 86_400_000, "groups": ["finance"]}))]
pub struct AskEscalation {
    /// Milliseconds after the previous step. For the first step, milliseconds after the opening of the interrupt.
    #[schema(minimum = 1)]
    pub after_ms: u64,
    /// Ids of people who may decide after this step. The id `starter` means the person who started the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// True if the approvers of this step replace all previous approvers, who may then no longer decide.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
}

/// Next step of an escalation, after which more or other people may decide.
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

/// Request to hide an interrupt for some time. The interrupt is hidden only from the inbox of the caller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"until": "2026-01-31T14:00:00Z"}))]
pub struct Snooze {
    /// End of the snooze. A snooze must end before the interrupt expires. `null` ends an active snooze.
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
    /// Number of members of the group who may decide.
    pub people: usize,
    /// Working hours of the group. Absent if none are configured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// Source that set the working hours. Only this source can change them. Absent if there are no working hours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PersonSource>,
}

/// Working hours of a group of approvers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "time_zone": "Europe/Berlin", "week": {"mon-thu": ["09:00-17:00"], "fri": ["09:00-12:00", "13:00-15:00"]},
    "holidays": ["2026-12-25"]
}))]
pub struct Hours {
    /// IANA time zone of the working hours.
    pub time_zone: String,
    /// Map from days (`mon`, `mon-fri`) to times of day. Responses contain one entry per day.
    pub week: BTreeMap<String, Vec<String>>,
    /// Dates without working hours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holidays: Vec<String>,
}
