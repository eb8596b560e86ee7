//! State of one run in a conversation, after the last printed event: the lines to print, and the agent of each step.

use std::collections::BTreeMap;

use holdshort_protocol::{Event, plain};
use serde_json::Value;

use super::Chat;
use crate::terminal::paint::Paint;
use crate::terminal::projector::Projector;

pub(super) struct SessionRun {
    pub(super) projector: Projector,
    /// Sequence number of the last processed event of the run.
    pub(super) seen: u64,
    pub(super) is_live: bool,
    pub(super) agents: BTreeMap<String, String>,
}

impl SessionRun {
    pub(super) fn new(paint: Paint, words: &str) -> Self {
        Self { projector: Projector::new(paint, words), seen: 0, is_live: true, agents: BTreeMap::new() }
    }

    /// Processes an event of the run, and returns the lines to print.
    pub(super) fn note(&mut self, event: &Event) -> Vec<String> {
        self.seen = self.seen.max(event.seq);
        let string = |key: &str| event.data.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match event.kind.as_str() {
            "step_started" => drop(self.agents.insert(string("step"), string("agent"))),
            "handed_over" => drop(self.agents.insert(string("step"), string("to"))),
            _ => {}
        }
        self.projector.project(event)
    }

    pub(super) fn agent(&self, step: &str) -> String {
        plain::line(self.agents.get(step).map_or("agent", String::as_str)).into_owned()
    }
}

impl Chat<'_> {
    pub(super) fn live(&self) -> Vec<String> {
        self.runs.iter().filter(|(_, known)| known.is_live).map(|(id, _)| id.clone()).collect()
    }

    /// Returns the id of the front run (the run that a message started last) if this run has not ended. The next
    /// message of the person is sent to the front run.
    pub(super) fn live_front(&self) -> Option<String> {
        let front = self.front.as_ref()?;
        self.runs.get(front).filter(|known| known.is_live).map(|_| front.clone())
    }
}
