//! Requests to models, computed from the state of the run. A request contains the result of every call. Holdshort
//! created all ids in a request.

use std::collections::BTreeSet;

use super::{Call, CallEnd, CallState, Entry, Run, Step, StepRole};
use crate::limits;
use crate::message::{self, Declaration, Message, Request};
use crate::tool::Spec;

impl Run {
    /// Returns the request for the next model call of the step `id`.
    pub fn request(&self, id: &str) -> Option<Request> {
        let step = self.steps.get(id)?;
        match step.role {
            StepRole::Overseer => Some(self.overseer_request(id, step)),
            StepRole::Summariser => Some(self.summariser_request(id)),
            StepRole::Router => self.router_request(step),
            StepRole::Worker
            | StepRole::Improver
            | StepRole::Planner
            | StepRole::Judge
            | StepRole::Maker
            | StepRole::Subtask => {
                let mut request = self.whole_request(id, step)?;
                self.fit(id, step, &mut request);
                Some(request)
            }
        }
    }

    /// Returns the complete model request of a step, before the request is shortened to fit into the window of the
    /// model.
    pub(super) fn whole_request(&self, id: &str, step: &Step) -> Option<Request> {
        let agent = self.definition.agents.get(&step.agent)?;
        let mut system = format!("Agent: {}\n\n{}", step.agent, agent.instructions.trim_end());
        if let Some(asking) = agent.asking_instructions.as_deref().filter(|_| self.definition.may_ask(agent))
        {
            system.push_str("\n\n");
            system.push_str(asking.trim_end());
        }
        if !self.definition.asking.enabled {
            system.push_str(if self.records_assumptions() {
                "\n\nNobody can be asked. Decide by yourself, and write down what you assume with `record_assumption`."
            } else {
                "\n\nNobody can be asked. Decide by yourself, and state what you assumed."
            });
        }
        if let Some(told) = self.told_to_return_questions(step) {
            system.push_str("\n\n");
            system.push_str(&told);
        }
        if self.ends_by_tool(step) {
            system.push_str(
                "\n\nYour work ends with the tool `finish` and nothing else: call it with what you did and what you \
                 left undone. A reply without a tool call does not end it.",
            );
        }
        let mut messages = vec![Message::System { text: system }];
        match step.round {
            Some(_) => messages.extend(self.rounds_remembered(step)),
            None => messages.push(Message::User { text: self.task_of(id) }),
        }
        messages.extend(self.history(step, remembered(step)));
        let names = agent.tools.iter().map(String::as_str).chain(self.lent_tool(id));
        let names = names.filter(|tool| !self.is_asked_in_replies(tool));
        let mut tools: Vec<Declaration> = names.filter_map(|name| self.spec(name)).map(declaration).collect();
        if tools.is_empty() {
            tools = self.called_before(&messages);
        }
        let model = self.model_of(id);
        Some(Request { agent: step.agent.clone(), model, messages, tools, response_schema: None })
    }

    /// Returns the given entries of a step as messages, with a result for every tool call.
    pub(super) fn conversation<'e>(&self, entries: impl Iterator<Item = &'e Entry>) -> Vec<Message> {
        let mut messages = Vec::new();
        for entry in entries {
            match entry {
                Entry::Note { text } => messages.push(Message::User { text: text.to_string() }),
                Entry::Turn { agent, text, calls, .. } => {
                    let calls: Vec<(&String, &Call)> =
                        calls.iter().filter_map(|id| self.calls.get(id).map(|call| (id, &**call))).collect();
                    if let Some(messages_of_it) = self.returned_turn(agent, &calls) {
                        messages.extend(messages_of_it);
                        continue;
                    }
                    messages.push(Message::Assistant {
                        agent: agent.clone(),
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
        messages
    }

    /// Returns the tools that other agents called earlier in the step. The request of an agent without tools declares
    /// these tools, because some providers reject a request that contains calls but declares no tool. If the agent
    /// calls one of these tools, the call is rejected.
    fn called_before(&self, messages: &[Message]) -> Vec<Declaration> {
        let called: BTreeSet<&str> = messages
            .iter()
            .flat_map(|message| match message {
                Message::Assistant { calls, .. } => calls.as_slice(),
                Message::System { .. } | Message::User { .. } | Message::Tool { .. } => &[],
            })
            .map(|call| call.tool.as_str())
            .collect();
        let told = called.into_iter().filter_map(|name| self.spec(name)).map(|spec| Declaration {
            description: "Not available to you: another agent called it.".to_owned(),
            ..declaration(spec)
        });
        told.collect()
    }
}

fn declaration(spec: &Spec) -> Declaration {
    Declaration {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
    }
}

/// Returns the entries of a step's conversation that its model request contains. Keeps only the newest messages from
/// before the start of the step, as many as the limit permits. The selection goes from the newest to the oldest
/// message, and stops at the first message that does not fit. If a text is kept, its later corrections are therefore
/// kept, too. The newest message is kept at any length, because a person's decision must not be cut (contract A15).
fn remembered(step: &Step) -> Vec<&Entry> {
    let mut room = limits::NOTES_CHARS;
    let mut told: Vec<&Entry> = Vec::new();
    let own = step.entries.len().saturating_sub(step.inherited);
    for entry in step.entries.iter().rev().skip(own) {
        let Entry::Note { text } = entry else { continue };
        let chars = text.chars().count();
        if chars > room && !told.is_empty() {
            break;
        }
        room = room.saturating_sub(chars);
        told.push(entry);
    }
    told.into_iter().rev().chain(step.entries.iter().skip(step.inherited)).collect()
}

pub(super) fn result_text(call: &Call) -> String {
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
        | CallState::WithClient(_)
        | CallState::Doubted(_) => "not finished".to_owned(),
    }
}

/// Returns the message that a planner gets after a person rejected its plan.
pub fn another_plan(text: &str) -> String {
    format!("A person wants another plan: {text}")
}
