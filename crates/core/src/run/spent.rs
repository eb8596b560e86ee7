//! What a run has achieved and used so far. It is shown wherever the run fails or reaches a limit, for the person who
//! decides on another try.

use serde_json::{Value, json};

use super::{Run, StepEnd, StepRole};
use crate::time::{Timestamp, in_words};

/// Counted from the events; a fresh budget for a step takes nothing away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Replies of models.
    pub requests: u64,
    /// Calls that were tried: each time that one was started, and those that failed before they could.
    pub calls: u64,
    pub tokens: u64,
}

impl Run {
    /// For the payload, and in words.
    pub(super) fn spent_so_far(&self, now: Timestamp) -> (Value, String) {
        let Spent { requests, calls, tokens } = self.spent;
        let done = |end: Option<StepEnd>| end == Some(StepEnd::Completed);
        let steps =
            self.steps.values().filter(|step| done(step.end) && step.role != StepRole::Overseer).count();
        let ms = self.started.as_ref().map_or(0, |started| now.ms_since(started.at));
        let value = json!({
            "steps_done": steps, "calls": calls, "requests": requests, "tokens": tokens, "ms": ms,
        });
        let words = format!(
            "So far: {}, {}, {}, {tokens} tokens, {}.",
            counted(steps as u64, "step done", "steps done"),
            counted(calls, "call made", "calls made"),
            counted(requests, "reply of a model", "replies of models"),
            in_words(ms),
        );
        (value, words)
    }
}

fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}
