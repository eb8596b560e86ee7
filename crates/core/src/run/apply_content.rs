//! State that is read from the content of events: a plan, a route, the changes of a call. If the content was erased,
//! this state is empty. This module also removes erased answers from the state.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::Run;
use super::fact::{LayerDigest, Node};
use super::state::{CallChanges, Entry};
use crate::changeset::Changeset;
use crate::digest::Digest;
use crate::envelope::Content;
use crate::event::Event;
use crate::id::InterruptId;
use crate::interrupt::About;
use crate::plan::{Plan, Subtask};
use crate::routing::{Route, Routed};
use crate::tool::LayerChanges;

/// Builds a plan from its subtasks in `nodes`. The descriptions and estimated durations of the subtasks are read from
/// the content of an event. If the content was erased, the descriptions are empty and the estimates are missing.
pub(super) fn drafted(nodes: &[Node], data: &Value) -> Plan {
    let text =
        |i: usize, field: &str| data.pointer(&format!("/subtasks/{i}/{field}")).and_then(Value::as_str);
    let subtask = |(i, node): (usize, &Node)| Subtask {
        id: node.id.clone(),
        description: text(i, "description").unwrap_or_default().to_owned(),
        agent: node.agent.clone(),
        depends_on: node.depends_on.clone(),
        estimated_time: text(i, "estimated_time").map(str::to_owned),
    };
    Plan { subtasks: nodes.iter().enumerate().map(subtask).collect() }
}

pub(super) fn routed(route: Route, complexity: Option<u8>, agent: Option<&str>, content: &Content) -> Routed {
    let texts =
        |key: &str| Vec::deserialize(content.data.get(key).unwrap_or(&Value::Null)).unwrap_or_default();
    Routed {
        route,
        complexity,
        agent: agent.map(str::to_owned),
        questions: texts("questions"),
        proposals: Vec::deserialize(content.data.get("proposals").unwrap_or(&Value::Null))
            .unwrap_or_default(),
        refined: content.data.get("refined_task").and_then(Value::as_str).map(str::to_owned),
        reasoning: content.as_text().to_owned(),
    }
}

pub(super) fn found(content: &Content, digest: Digest, changed: usize, deleted: usize) -> CallChanges {
    CallChanges {
        digest,
        changed,
        deleted,
        ask_because: Vec::new(),
        changeset: changeset_of(content, digest),
        layer: None,
        text: Arc::from(content.as_text()),
        data: content.data.get("data").cloned().unwrap_or_default(),
        card: content.data.get("card").cloned().unwrap_or_default(),
    }
}

/// Reads a changeset from the content of a run's event. `None` if the changeset does not have the digest `digest`.
pub(super) fn changeset_of(content: &Content, digest: Digest) -> Option<Arc<Changeset>> {
    let changes = Changeset::deserialize(content.data.get("changes")?).ok()?;
    (changes.digest() == digest).then(|| Arc::new(changes))
}

/// Reads the changes of the run's private layer (files that git ignores) from the content of an event. `None` if the
/// changes do not have the digest in `named`.
pub(super) fn layer_changes(content: &Content, named: &LayerDigest) -> Option<Arc<LayerChanges>> {
    let layer = LayerChanges::deserialize(content.data.get("layer")?).ok()?;
    (layer.changes.digest() == named.changeset).then(|| Arc::new(layer))
}

const ERASED: &str = "The answer was erased.";

impl Run {
    pub(super) fn push_note(&mut self, step: &str, content: &Content) {
        self.step(step, |step| {
            step.entries.push_back_mut(Entry::Note { text: Arc::from(content.as_text()) });
        });
    }

    /// Sends the text of an event to the agents of the run's open steps, and of steps that start later.
    pub(super) fn tell_all(&mut self, content: &Content) {
        let text: Arc<str> = Arc::from(content.as_text());
        self.messages.push_back_mut(text.clone());
        // Steps that judge, route or summarise get their whole input as one task. They receive no messages.
        self.steps.change_open(
            |_, step| !step.role.is_aside(),
            |step| {
                step.entries.push_back_mut(Entry::Note { text: text.clone() });
                step.refused_ends = 0;
            },
        );
    }

    pub(super) fn apply_to_interrupt(&mut self, id: &InterruptId, event: &Event) {
        let seq = self.seq;
        self.interrupts.change(id, |interrupt| interrupt.apply(event, seq));
    }

    /// Removes a person's erased answer from the state of the run. `events` are the sequence numbers of the events that
    /// contained the answer. Notes in the conversations of open steps are removed only at the next replay.
    pub(super) fn erased(&mut self, event: &Event, id: &InterruptId, events: &[u64]) {
        let seq = self.seq;
        if let Some(ended) = self.ended.as_mut().filter(|ended| events.contains(&ended.told)) {
            let ended = Arc::make_mut(ended);
            (ended.told, ended.text) = (seq, event.content.text.clone());
            ended.result = event.content.data.clone();
        }
        self.interrupts.change(id, |interrupt| interrupt.apply(event, seq));
        let about = self.interrupts.get(id).map(|interrupt| interrupt.opened.about.clone());
        if let Some(About::Call(call)) = about {
            let told = Some(ERASED.into());
            self.call(&call, |call| (call.result, call.outcome) = (told, Value::Null));
        }
    }
}

/// Returns the message that tells the agents of later steps about a text that a person wrote in a decision on `step`.
pub fn said_about(step: &str, text: &str) -> String {
    format!("A person said about `{step}`: {text}")
}
