//! What happens while nobody decides on an interrupt: reminders, others who are asked, putting it off; and when somebody of
//! a group is at work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::PersonSource;

/// Those who are asked are told again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"after_ms": 14_400_000, "every_ms": 28_800_000, "limit": 3}))]
pub struct AskReminders {
    /// Since they were asked.
    #[schema(minimum = 1)]
    pub after_ms: u64,
    /// And then so often; without it once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1)]
    pub every_ms: Option<u64>,
    /// How many there are in all: 10 without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(minimum = 1, maximum = 100)]
    pub limit: Option<u32>,
}

/// Others are asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"after_ms": 86_400_000, "groups": ["finance"]}))]
pub struct AskEscalation {
    /// Since it was asked, or since the step before.
    #[schema(minimum = 1)]
    pub after_ms: u64,
    /// By id. `starter` is whoever started the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    /// They decide instead of those who were asked, and not beside them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
}

/// The step of an escalation that comes next.
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

/// Puts an interrupt off, for whoever sends it alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"until": "2026-01-31T14:00:00Z"}))]
pub struct Snooze {
    /// Until then, and not longer than it is open; `null`: no more.
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
    /// How many who may decide are in it.
    pub people: usize,
    /// When somebody of it is at work, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hours: Option<Hours>,
    /// Where the hours were read from: nobody else changes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PersonSource>,
}

/// When somebody of a group is at work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({
    "time_zone": "Europe/Berlin", "week": {"mon-thu": ["09:00-17:00"], "fri": ["09:00-12:00", "13:00-15:00"]},
    "holidays": ["2026-12-25"]
}))]
pub struct Hours {
    /// An IANA time zone.
    pub time_zone: String,
    /// Day or days (`mon`, `mon-fri`) → parts of the day. It is read day by day.
    pub week: BTreeMap<String, Vec<String>>,
    /// Free days.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holidays: Vec<String>,
}
