//! Model requests of a session, with tokens and durations (contract B16). All figures are read from the events of the
//! session's runs.

use std::collections::BTreeMap;

use holdshort_core::event::{self, Event};
use holdshort_core::id::{RunId, StreamId};
use holdshort_core::message::Usage;
use holdshort_core::run::{Fact, Run};
use holdshort_core::time::Timestamp;
use holdshort_store::Log;
use holdshort_web::app::App;
use holdshort_web::limits::READ_EVENTS;
use holdshort_web::problem::Answer;
use serde_json::{Value, json};

use crate::limits::{CODELAB_METRICS_EVENTS, CODELAB_METRICS_REQUESTS};

/// Model name that is reported for a failed request if the workflow names no model.
const DEFAULT_MODEL: &str = "default";

/// Ended model requests of runs, read newest run first.
pub(super) struct Metrics {
    /// Number of journal events that may still be read for the session's metrics.
    room: usize,
    /// Model requests that have ended.
    requests: Vec<Request>,
}

struct Request {
    started_at: Timestamp,
    model: String,
    duration_ms: u64,
    /// Tokens of a model request and its reply, and true if the reply contains calls. If the request failed: the error.
    outcome: Result<(Usage, bool), String>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        Self { room: CODELAB_METRICS_EVENTS, requests: Vec::new() }
    }

    /// Returns true if no further journal events may be read for the session's metrics.
    pub(super) fn is_full(&self) -> bool {
        self.room == 0
    }

    pub(super) async fn add(&mut self, app: &App, id: &RunId) -> Answer<()> {
        let stream = StreamId::Run(id.clone());
        let mut run = Run::new(id.clone(), app.run_now(id).await?.definition.clone());
        // Each step has at most one pending request.
        let mut pending: BTreeMap<String, Timestamp> = BTreeMap::new();
        while self.room > 0 {
            let page = app.journal().read(&stream, run.seq, READ_EVENTS).await?;
            self.room = self.room.saturating_sub(page.len());
            for sealed in &page {
                let event = app.decode_event(sealed)?;
                run.apply(&event);
                self.requests.extend(ended(&run, &event, &mut pending));
            }
            if page.len() < READ_EVENTS {
                break;
            }
        }
        Ok(())
    }

    pub(super) fn render(mut self, session: &str) -> Value {
        self.requests.sort_by_key(|request| request.started_at);
        let answered: Vec<(&Request, &Usage, bool)> = self
            .requests
            .iter()
            .filter_map(|request| {
                let (usage, has_calls) = request.outcome.as_ref().ok()?;
                Some((request, usage, *has_calls))
            })
            .collect();
        let sum = |of: fn(&Request, &Usage) -> u64| {
            answered.iter().fold(0_u64, |sum, (request, usage, _)| sum.saturating_add(of(request, usage)))
        };
        let duration_ms = sum(|request, _| request.duration_ms);
        let (prompt, completion) = (sum(|_, usage| usage.input_tokens), sum(|_, usage| usage.output_tokens));
        let total = prompt.saturating_add(completion);
        let newest = self.requests.len().saturating_sub(CODELAB_METRICS_REQUESTS);
        let mut shown = json!({
            "session_id": session,
            "total_requests": self.requests.len(),
            "successful_requests": answered.len(),
            "failed_requests": self.requests.len() - answered.len(),
            "total_duration_ms": duration_ms,
            "average_duration_ms": average(duration_ms, answered.len()),
            "total_prompt_tokens": prompt,
            "total_completion_tokens": completion,
            "total_tokens": total,
            "average_tokens_per_request": average(total, answered.len()),
            "requests_with_tools": answered.iter().filter(|(_, _, has_calls)| *has_calls).count(),
            "requests": self.requests[newest..].iter().map(Request::render).collect::<Vec<_>>(),
        });
        if self.room == 0 || newest > 0 {
            shown["truncated"] = json!(true);
        }
        shown
    }
}

impl Request {
    fn render(&self) -> Value {
        let (usage, has_calls, error) = match &self.outcome {
            Ok((usage, has_calls)) => (*usage, *has_calls, None),
            Err(error) => (Usage::default(), false, Some(error)),
        };
        json!({
            "timestamp": self.started_at.to_string(),
            "model": self.model,
            "duration_ms": self.duration_ms,
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "total_tokens": usage.input_tokens.saturating_add(usage.output_tokens),
            "has_tool_calls": has_calls,
            "success": self.outcome.is_ok(),
            "error": error,
        })
    }
}

/// Returns the model request that ended with this event. `pending` contains, for each step, the time at which the
/// step's unanswered request started.
fn ended(run: &Run, event: &Event, pending: &mut BTreeMap<String, Timestamp>) -> Option<Request> {
    let event::Fact::Run(fact) = &event.fact else { return None };
    let failed = |error: String| Err(error);
    let (step, model, outcome) = match fact {
        Fact::ModelStarted { step, .. } => {
            pending.insert(step.clone(), event.at);
            return None;
        }
        Fact::ModelReplied { step, model, usage, calls, .. } => {
            (step, Some(model.clone()), Ok((*usage, !calls.is_empty())))
        }
        Fact::ModelFailed { step, .. } => (step, None, failed(event.content.as_text().to_owned())),
        Fact::ModelLost { step, .. } => (step, None, failed("the server stopped during the request".into())),
        Fact::ModelStopped { step, .. } => (step, None, failed("a person interrupted the request".into())),
        _ => return None,
    };
    let started_at = pending.remove(step)?;
    let ms = event.at.as_millis().saturating_sub(started_at.as_millis());
    Some(Request {
        started_at,
        model: model.or_else(|| run.model_of(step)).unwrap_or_else(|| DEFAULT_MODEL.to_owned()),
        duration_ms: u64::try_from(ms).unwrap_or_default(),
        outcome,
    })
}

/// Returns the quotient of a sum and a count, rounded to two decimals as in the original system.
#[expect(clippy::cast_precision_loss, reason = "sums of one session are far below 2^53")]
fn average(sum: u64, of: usize) -> f64 {
    if of == 0 { 0.0 } else { (sum as f64 / of as f64 * 100.0).round() / 100.0 }
}
