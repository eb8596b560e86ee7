//! Who may decide on an interrupt, and how they have voted so far.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Who may decide. Of several stages the people, groups and quorum are those of the stage that it is at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "approvers": [], "groups": ["legal"], "quorum": {"required": 2, "roles": "any"}, "needed": 1
}))]
pub struct Assignment {
    /// By id. Where neither a person nor a group is named, admins and operators decide.
    pub approvers: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<String>,
    pub quorum: Quorum,
    /// Admins and operators too: it was escalated to them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub operators: bool,
    /// `false`: whoever started the run, or wrote the edit, does not release it.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub self_approval: bool,
    /// Where there is more than one: all of them, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stages: Vec<Stage>,
    /// Where it is `false` one person may agree in several stages: the workflow says so, or those who are left are too few.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub distinct: bool,
    /// Of an open interrupt with several stages: the one that it is at, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<usize>,
    /// Of an open interrupt that one vote does not settle: how many more people have to agree in this stage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needed: Option<u32>,
    /// Where each that is named has to agree: those people and groups that have not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// Who was asked to decide in the place of whom.
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
    /// How many different people have to agree; one where nothing is said.
    #[serde(default = "one")]
    #[schema(minimum = 1)]
    pub required: u32,
    /// `all`: each person that is named, and somebody of each group, has to be among them.
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

/// Who is to decide: either `stages`, or what stands in one of them. Whoever is named is there and may decide.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"groups": ["legal"], "quorum": {"required": 2}, "self_approval": false}))]
pub struct AskAssignment {
    /// By id. `starter` is whoever started the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub approvers: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub groups: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quorum: Option<Quorum>,
    /// `true` without it: whoever agrees in one stage counts in no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distinct: Option<bool>,
    /// `true` without it. `false`: whoever started the run, or wrote the edit, does not release it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub self_approval: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(min_items = 1)]
    pub stages: Option<Vec<Stage>>,
}

/// A decision that stands, and settles nothing by itself yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"by": "anna", "option": "approve", "at": "2026-01-31T09:31:00.000Z", "seq": 12}))]
pub struct Vote {
    pub by: String,
    pub option: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whom they decided in the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// The stage that it counts in, from 0, where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<usize>,
    /// The sequence of the decision that brought the edit which they agree with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit_of: Option<u64>,
    /// That edit.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    #[schema(value_type = Option<Value>)]
    pub edit: Value,
    /// How long its card was visible to them before, in milliseconds, as their client says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub viewed_ms: Option<u64>,
    /// For whom they decided, as their client says: nobody has checked it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_behalf_of: Option<String>,
    /// Whoever made the link that they signed in with, where that is somebody else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub let_in_by: Option<String>,
    #[schema(format = DateTime)]
    pub at: String,
    /// In the run's stream.
    pub seq: u64,
}

/// Whether whoever reads it may decide now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"may_decide": false, "code": "not_your_stage", "why": "it is at stage 1 now, which is for others to decide"}))]
pub struct You {
    pub may_decide: bool,
    /// The code of the refusal that a decision would get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Whom they would decide in the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place_of: Option<String>,
    /// Until when they have put it off, for themselves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub snoozed_until: Option<String>,
}

/// Others are to decide.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"assignment": {"approvers": ["anna"]}, "text": "Ben is ill."}))]
pub struct Reassign {
    pub assignment: AskAssignment,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Somebody decides in the place of somebody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"to": "ben", "until": "2026-02-07T00:00:00Z"}))]
pub struct Delegate {
    /// Whoever sends it, where nobody is named.
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
