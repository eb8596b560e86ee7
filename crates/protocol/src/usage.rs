//! Token usage and cost of runs and sessions, and the model calls of runs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Token counts, as the model providers report them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"requests": 12, "input_tokens": 48_210, "output_tokens": 3_145}))]
pub struct Usage {
    /// Number of replies that models gave.
    pub requests: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
}

/// Cost of the model replies, computed with the prices in the workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({"amount": "0.1527", "currency": "USD"}))]
pub struct Cost {
    /// Decimal number, rounded up to a millionth of the currency unit.
    pub amount: String,
    pub currency: String,
    /// Number of replies for which the workflow defines no price. `amount` does not include them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unpriced_requests: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One model call of a run. `GET /v1/runs/{id}/model-requests/{n}` returns its request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({
    "n": 3, "step": "work", "agent": "pair", "model": "gpt-4o", "at": "2026-01-31T09:30:07.120Z", "status": "replied",
    "answered_by": "gpt-4o-2024-08-06", "usage": {"requests": 1, "input_tokens": 4_120, "output_tokens": 310},
    "cost": {"amount": "0.0134", "currency": "USD"}
}))]
pub struct ModelCall {
    /// Number of the call within its run, from 1.
    pub n: u64,
    pub step: String,
    pub agent: String,
    /// Name of the requested model. Absent if the call used the default model of the installation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[schema(format = DateTime)]
    pub at: String,
    pub status: ModelCallStatus,
    /// True if tool results were left out of the request, so that it fits into the model's context window.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shortened: bool,
    /// Name of the model that answered, as the provider reports it.
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
    /// The server process that waited for the model's reply ended.
    Lost,
    /// A person interrupted the model call.
    Interrupted,
    /// The step ended before the reply arrived.
    Dropped,
}
