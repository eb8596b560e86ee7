//! What runs and sessions used, what it cost, and the calls of models that it went into.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Tokens as the providers counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"requests": 12, "input_tokens": 48_210, "output_tokens": 3_145}))]
pub struct Usage {
    /// Replies of models.
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// What the replies cost by the prices of the workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"amount": "0.1527", "currency": "USD"}))]
pub struct Cost {
    /// A decimal, rounded up to a millionth.
    pub amount: String,
    pub currency: String,
    /// Replies of models that have no price: the amount is without them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_requests: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One call of a model in a run. What it was sent: `GET /v1/runs/{id}/model-requests/{n}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "n": 3, "step": "work", "agent": "pair", "model": "gpt-4o", "at": "2026-01-31T09:30:07.120Z", "status": "replied",
    "answered_by": "gpt-4o-2024-08-06", "usage": {"requests": 1, "input_tokens": 4_120, "output_tokens": 310},
    "cost": {"amount": "0.0134", "currency": "USD"}
}))]
pub struct ModelCall {
    /// The how-manieth of the run, counted from 1.
    pub n: u64,
    pub step: String,
    pub agent: String,
    /// `None`: the model of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[schema(format = DateTime)]
    pub at: String,
    pub status: ModelCallStatus,
    /// Results of tools are left out of the request, so that it fits the model's window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
    /// The model as its provider names it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelCallStatus {
    Running,
    Replied,
    Failed,
    /// The process that waited for the reply is gone.
    Lost,
    /// A person interrupted it.
    Interrupted,
    /// The step ended before the reply came.
    Dropped,
}
