//! What a run has achieved and what it took so far: told wherever it fails or reaches a limit, so that whoever decides
//! knows what another try builds on.

use serde_json::{Value, json};

use super::{Role, Run, StepEnd};
use crate::time::Timestamp;

/// Counted from the events; a fresh budget for a step takes nothing away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Replies of models.
    pub requests: u64,
    /// Calls that were started, each time that they were.
    pub calls: u64,
    pub tokens: u64,
}

impl Run {
    /// For the payload, and in words.
    pub(super) fn spent_so_far(&self, now: Timestamp) -> (Value, String) {
        let Spent { requests, calls, tokens } = self.spent;
        let done = |end: Option<StepEnd>| end == Some(StepEnd::Completed);
        let steps = self.steps.values().filter(|step| done(step.end) && step.role != Role::Overseer).count();
        let ms = self.started.as_ref().map_or(0, |started| now.ms_since(started.at));
        let value = json!({
            "steps_done": steps, "calls": calls, "requests": requests, "tokens": tokens, "ms": ms,
        });
        let words = format!(
            "So far: {}, {}, {}, {tokens} tokens, {}.",
            counted(steps as u64, "step done", "steps done"),
            counted(calls, "call made", "calls made"),
            counted(requests, "reply of a model", "replies of models"),
            duration(ms),
        );
        (value, words)
    }
}

fn counted(n: u64, one: &str, more: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { more })
}

/// In its two largest units.
fn duration(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, hours, minutes) = (seconds / 86_400, seconds / 3_600 % 24, seconds / 60 % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {minutes} min"),
        (_, _, _) => format!("{days} d {hours} h"),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn durations_read_well() {
        let table = [
            (0, "0 s"),
            (59_999, "59 s"),
            (61_000, "1 min 1 s"),
            (3_600_000, "1 h 0 min"),
            (90_000_000, "1 d 1 h"),
        ];
        for (ms, words) in table {
            assert_eq!(duration(ms), words);
        }
    }
}
