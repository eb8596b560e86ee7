//! The provider's history as a projection of the journal: every call paired with its result, ids our own.

use serde_json::Value;

use super::draft::Draft;
use super::{Call, CallEnd, CallState, Entry, Run};
use crate::message::{self, Declaration, Message, Request};

impl Run {
    /// The request that the step's next model call sends.
    pub fn request(&self, id: &str) -> Option<Request> {
        let step = self.steps.get(id)?;
        let agent = self.definition.agents.get(&step.agent)?;
        let mut system = format!("Agent: {}\n\n{}", step.agent, agent.instructions.trim_end());
        if !self.definition.asking.enabled {
            system.push_str("\n\nNobody can be asked. Decide by yourself, and state what you assumed.");
        }
        let mut messages = vec![Message::System { text: system }, Message::User { text: self.task_of(id) }];
        for entry in &step.entries {
            match entry {
                Entry::Note { text } => messages.push(Message::User { text: text.to_string() }),
                Entry::Turn { text, calls } => {
                    let calls: Vec<(&String, &Call)> =
                        calls.iter().filter_map(|id| self.calls.get(id).map(|call| (id, &**call))).collect();
                    messages.push(Message::Assistant {
                        text: text.to_string(),
                        calls: calls
                            .iter()
                            .map(|(id, call)| message::Call {
                                id: (*id).clone(),
                                tool: call.tool.clone(),
                                arguments: call.arguments.clone(),
                            })
                            .collect(),
                    });
                    messages.extend(calls.iter().map(|(id, call)| Message::Tool {
                        call: (*id).clone(),
                        name: call.tool.clone(),
                        text: result_text(call),
                    }));
                }
            }
        }
        let tools = agent
            .tools
            .iter()
            .filter_map(|name| self.spec(name))
            .map(|spec| Declaration {
                name: spec.name.clone(),
                description: spec.description.clone(),
                parameters: spec.parameters.clone(),
            })
            .collect();
        let model = agent.model.clone().or_else(|| self.config().and_then(|config| config.model.clone()));
        Some(Request { agent: step.agent.clone(), model, messages, tools })
    }

    /// What the step works on: the run's task, the phase's own words, what the phases before it brought.
    pub(super) fn task_of(&self, id: &str) -> String {
        let Some(step) = self.steps.get(id) else { return String::new() };
        if let Some(input) = &step.input {
            return input.to_string();
        }
        let input = self.started.as_ref().map_or(&Value::Null, |started| &started.input);
        let mut text = match input.get("task").and_then(Value::as_str) {
            Some(task) => task.to_owned(),
            None => Draft::readable(input),
        };
        let Some(phase) = self.phase(&step.phase) else { return text };
        if let Some(input) = &phase.input {
            text.push_str("\n\n");
            text.push_str(input.trim_end());
        }
        for need in &phase.needs {
            let output = self
                .steps
                .values()
                .find(|other| other.phase == *need)
                .and_then(|other| other.output.as_ref());
            if let Some(output) = output {
                text.extend(["\n\nResult of `", need, "`:\n", output]);
            }
        }
        text
    }
}

fn result_text(call: &Call) -> String {
    if let Some(result) = &call.result {
        return result.to_string();
    }
    match call.state {
        CallState::Ended(CallEnd::Skipped) => "skipped by a person".to_owned(),
        CallState::Ended(CallEnd::Refused) => "refused".to_owned(),
        CallState::Ended(CallEnd::Done | CallEnd::Answered) => String::new(),
        CallState::Ended(CallEnd::Failed) => "failed".to_owned(),
        CallState::Ended(CallEnd::Cancelled | CallEnd::Unknown)
        | CallState::Proposed
        | CallState::Gated(_)
        | CallState::Authorised
        | CallState::Started { .. }
        | CallState::Doubted(_) => "not finished".to_owned(),
    }
}
