//! People who may decide on an interrupt, and the votes that they have cast so far.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// People who may decide on an interrupt. If there are several stages, `approvers`, `groups` and `quorum` are those of
/// the current stage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "approvers": [], "groups": ["legal"], "quorum": {"required": 2, "roles": "any"}, "needed": 1
}))]
pub struct Assignment {
    /// Ids of people who may decide. If `approvers` and `groups` are both empty, admins and operators decide.
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    pub quorum: Quorum,
    /// True if the interrupt was escalated to admins and operators, so that they may decide too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operators: bool,
    /// False if neither the person who started the run nor the person who wrote the edit may approve. Absent means
    /// true.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub self_approval: bool,
    /// All stages in their order. Absent if there is only one stage.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// True if a person who voted in one stage cannot vote in another stage. False if the same person may vote again,
    /// or if too few other people would be left to decide. Absent means true.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub distinct: bool,
    /// Index of the current stage, from 0. Present on an open interrupt with several stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<usize>,
    /// Number of missing votes in the current stage. Present on an open interrupt that needs more than one vote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u32>,
    /// People and groups that must still agree. Present if each named person and group must agree.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Delegations of this interrupt. Each entry names a delegate, and the approver whom the delegate represents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub delegations: Vec<Delegation>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Stage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    #[serde(default)]
    pub quorum: Quorum,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Quorum {
    /// Number of different people who must agree. Defaults to 1.
    #[serde(default = "one")]
    #[schema(minimum = 1)]
    pub required: u32,
    /// With `all`, each person in `approvers` and one member of each group in `groups` must agree, in addition to the
    /// required number of people.
    #[serde(default, skip_serializing_if = "Represented::is_any")]
    pub roles: Represented,
}

impl Default for Quorum {
    fn default() -> Self {
        Self { required: 1, roles: Represented::Any }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Represented {
    #[default]
    Any,
    All,
}

impl Represented {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
    fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// Approvers of an interrupt: either `stages`, or the fields of a single stage. Each named person must exist and be
/// allowed to decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"groups": ["legal"], "quorum": {"required": 2}, "self_approval": false}))]
pub struct AskAssignment {
    /// Ids of people who may decide. The id `starter` means the person who started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub approvers: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub groups: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<Quorum>,
    /// True if a person who voted in one stage cannot vote in any other stage. Defaults to true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<bool>,
    /// False if neither the person who started the run nor the person who wrote the edit may approve. Defaults to true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_approval: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub stages: Option<Vec<Stage>>,
}

/// Valid vote on an interrupt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"by": "anna", "option": "approve", "at": "2026-01-31T09:31:00.000Z", "seq": 12}))]
pub struct Vote {
    pub by: String,
    pub option: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Id of the approver whose delegate cast this vote. Absent if the voter is not a delegate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// Index of the vote's stage, from 0. Present if there are several stages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<usize>,
    /// Sequence number of the decision with the edit to which the voter agreed. Absent if the voter agreed to no edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit_of: Option<u64>,
    /// Edit to which the voter agreed. Absent if the voter agreed to no edit.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// Milliseconds for which the voter's client showed the card to the voter, as reported by that client. Not
    /// verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// Person on whose behalf the voter acted, as reported by the voter's client. Not verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// Id of the person who created the login link with which the voter signed in. Absent if no other person created
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
    #[schema(format = DateTime)]
    pub at: String,
    /// Sequence number of the vote's event in the run's stream.
    pub seq: u64,
}

/// Answer to the question whether the sender of this request may decide on the interrupt now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"may_decide": false, "code": "not_your_stage", "why": "you are not an approver of the current stage 1"}))]
pub struct You {
    pub may_decide: bool,
    /// Error code with which the server would reject a decision of this person. Absent if this person may decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Id of the approver whom this person represents as a delegate. Absent if this person is not a delegate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// Time until which this person has snoozed the interrupt. Absent if this person has not snoozed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub snoozed_until: Option<String>,
}

/// Request to assign an interrupt to other approvers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"assignment": {"approvers": ["anna"]}, "text": "Ben is ill."}))]
pub struct Reassign {
    pub assignment: AskAssignment,
    /// Reason for the reassignment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Request to let a delegate decide for an approver.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"to": "ben", "until": "2026-02-07T00:00:00Z"}))]
pub struct Delegate {
    /// Id of the approver that the delegate represents. Defaults to the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub until: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Delegation {
    pub from: String,
    pub to: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub until: Option<String>,
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_true(value: &bool) -> bool {
    *value
}
