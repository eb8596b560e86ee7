//! Usage of model requests by runs and sessions.

use holdshort_core::message::Usage;
use holdshort_core::pricing;
use holdshort_core::projection::{RunRow, SessionUsage};
use holdshort_engine::{ModelCall, ModelOutcome};
use holdshort_protocol as wire;

pub(super) fn from_row(row: &RunRow) -> Option<wire::Usage> {
    Some(wire::Usage {
        requests: row.requests?,
        input_tokens: row.input_tokens?,
        output_tokens: row.output_tokens?,
    })
}

pub(super) fn cost_of_row(row: &RunRow) -> Option<wire::Cost> {
    let currency = row.currency.clone()?;
    Some(cost(row.cost?, currency, row.unpriced.unwrap_or_default()))
}

/// Returns the totals of a session: the usage of models, the cost in each currency, and the duration in milliseconds.
pub(super) fn of_session(parts: Vec<SessionUsage>) -> (wire::Usage, Vec<wire::Cost>, u64) {
    let (mut usage, mut costs, mut duration_ms) = (wire::Usage::default(), Vec::new(), 0_u64);
    for part in parts {
        usage.requests = usage.requests.saturating_add(part.requests);
        usage.input_tokens = usage.input_tokens.saturating_add(part.input_tokens);
        usage.output_tokens = usage.output_tokens.saturating_add(part.output_tokens);
        duration_ms = duration_ms.saturating_add(part.duration_ms);
        costs.extend(part.currency.map(|currency| cost(part.cost, currency, part.unpriced)));
    }
    (usage, costs, duration_ms)
}

pub fn model_call(call: ModelCall) -> wire::ModelCall {
    let ModelCall { n, step, agent, model, at, shortened, outcome } = call;
    let mut shown = wire::ModelCall {
        n,
        step,
        agent,
        model,
        at: at.to_string(),
        status: wire::ModelCallStatus::Running,
        shortened,
        answered_by: None,
        usage: None,
        cost: None,
    };
    shown.status = match outcome {
        ModelOutcome::Running => wire::ModelCallStatus::Running,
        ModelOutcome::Failed => wire::ModelCallStatus::Failed,
        ModelOutcome::Lost => wire::ModelCallStatus::Lost,
        ModelOutcome::Interrupted => wire::ModelCallStatus::Interrupted,
        ModelOutcome::Dropped => wire::ModelCallStatus::Dropped,
        ModelOutcome::Replied { model, usage: Usage { input_tokens, output_tokens }, cost: paid } => {
            shown.answered_by = Some(model);
            shown.usage = Some(wire::Usage { requests: 1, input_tokens, output_tokens });
            shown.cost = paid.map(|(paid, currency)| cost(paid.millionths(), currency, 0));
            wire::ModelCallStatus::Replied
        }
    };
    shown
}

fn cost(millionths: u64, currency: String, unpriced_requests: u64) -> wire::Cost {
    wire::Cost { amount: pricing::amount(millionths), currency, unpriced_requests }
}
