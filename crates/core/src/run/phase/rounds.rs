//! Texts for the rounds of a copilot and for its router agent: the current task, people's answers, and the earlier
//! rounds. This module only reads the run. `copilot.rs` makes the decisions.

use serde_json::json;

use super::super::{Entry, Run, Step, StepEnd};
use super::copilot::round;
use crate::definition::Phase;
use crate::limits;
use crate::message::{Message, Request};
use crate::routing::{self, Proposal};

/// Id of the option of a `choice` interrupt that lets the approver write a text.
const CUSTOM: &str = "custom";

impl Run {
    /// Returns the task of the copilot's round in progress. If no round is in progress, returns the task of the next
    /// round.
    pub(in super::super) fn wanted_task(&self, phase: &str) -> String {
        let rounds = self.rounds_of(phase);
        let mut task = match &rounds.task {
            Some(task) => task.to_string(),
            None => self.task().into_owned(),
        };
        for added in &rounds.added {
            task.extend(["\n", added]);
        }
        task
    }

    pub(super) fn chosen(&self, phase: &str, option: &str, text: &str) -> String {
        let routed = self.rounds_of(phase).routed.as_ref();
        let proposal = option
            .strip_prefix("option_")
            .and_then(|n| n.parse::<usize>().ok())
            .and_then(|n| routed.and_then(|routed| routed.proposals.get(n.checked_sub(1)?)));
        let mut told = match proposal {
            Some(Proposal { title, description, .. }) if description.is_empty() => {
                format!("The person chose this approach: {title}.")
            }
            Some(Proposal { title, description, .. }) => {
                format!("The person chose this approach: {title}. {description}")
            }
            None if option == CUSTOM && !text.is_empty() => {
                return format!("The person described a different approach: {text}");
            }
            None => "The person chose none of the proposed approaches. Continue as you think \
                best."
                .to_owned(),
        };
        if !text.is_empty() {
            told.extend(["\nThe person adds: ", text]);
        }
        told
    }

    /// Returns the task of a copilot's round: the run's task or a person's text, followed by the answers that people
    /// gave before the round.
    pub(in super::super) fn round_task(&self, phase: &Phase, step: &Step) -> String {
        if let Some(input) = &step.input {
            return input.to_string();
        }
        let rounds = self.rounds_of(&phase.id);
        let n = step.round.unwrap_or(rounds.begun);
        let Some(brief) = rounds.briefs.get(&n) else { return self.background(phase) };
        let said = if n == rounds.fresh_from { self.background(phase) } else { brief.render() };
        let parts = std::iter::once(said).chain(brief.beside.iter().map(ToString::to_string));
        parts.filter(|part| !part.trim().is_empty()).collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the conversation of the earlier rounds of a copilot as the round of this step gets it. The conversation
    /// of each earlier round starts with the task of that round. Empty if the step is not a round.
    pub(in super::super) fn rounds_remembered(&self, step: &Step) -> Vec<Message> {
        let Some(phase) = self.phase(&step.phase).filter(|_| step.round.is_some()) else { return Vec::new() };
        let rounds = self.rounds_of(&phase.id);
        let own = step.round.unwrap_or(rounds.begun);
        let before = (rounds.fresh_from..own).filter_map(|n| self.steps.get(&round(&phase.id, n)));
        let mut room = limits::ROUNDS_BYTES;
        // The newest rounds are kept completely. Older rounds keep only people's texts and the final text.
        let mut told: Vec<Vec<Message>> = before
            .rev()
            .map(|each| {
                let whole = self.conversation(each.entries.iter());
                let bytes: usize = whole.iter().map(|message| json!(message).to_string().len()).sum();
                let fits = bytes <= room;
                room = if fits { room - bytes } else { 0 };
                let said = if fits { whole } else { in_short(each) };
                self.works_on(phase, each).into_iter().chain(said).collect()
            })
            .collect();
        told.reverse();
        told.into_iter().flatten().chain(self.works_on(phase, step)).collect()
    }

    fn works_on(&self, phase: &Phase, step: &Step) -> Option<Message> {
        let text = self.round_task(phase, step);
        (!text.trim().is_empty()).then_some(Message::User { text })
    }

    pub(in super::super) fn router_request(&self, step: &Step) -> Option<Request> {
        let (phase, copilot) = self.copilot(&step.phase)?;
        let agent = self.definition.agents.get(&step.agent)?;
        let mode = copilot.routing?;
        let team = std::iter::once(&copilot.agent).chain(&copilot.team);
        let names: Vec<&str> = team.map(String::as_str).collect();
        let system = format!(
            "Agent: {}\n\n{}\n\n{}\nAgents: {}.\n{}",
            step.agent,
            agent.instructions.trim_end(),
            mode.guide(),
            names.join(", "),
            routing::FORM,
        );
        let task = format!("{}{}", self.earlier.as_deref().unwrap_or_default(), self.wanted_task(&phase.id));
        let model = agent.model.clone().or_else(|| self.config().and_then(|config| config.model.clone()));
        let refused = matches!(step.last_failure, Some((crate::message::FailureKind::Rejected, _)));
        Some(Request {
            agent: step.agent.clone(),
            model,
            messages: vec![Message::System { text: system }, Message::User { text: task }],
            tools: Vec::new(),
            response_schema: (!refused).then(routing::response_schema),
        })
    }

    /// Returns the final text of the last round of a copilot phase that no person skipped.
    pub(super) fn last_round(&self, phase: &str) -> Option<String> {
        let rounds = self.rounds_of(phase);
        let ends = (1..=rounds.begun).rev().filter_map(|n| self.steps.get(&round(phase, n)));
        let last =
            ends.filter(|step| step.end != Some(StepEnd::Skipped)).find_map(|step| step.output.clone())?;
        Some(last.to_string())
    }
}

/// Returns the texts that people wrote in a round of a copilot, and the final text of the round.
fn in_short(step: &Step) -> Vec<Message> {
    let notes = step.entries.iter().filter_map(|entry| match entry {
        Entry::Note { text } => Some(Message::User { text: text.to_string() }),
        Entry::Turn { .. } => None,
    });
    let last = step.output.as_deref().unwrap_or("(nothing)").to_owned();
    let last = Message::Assistant { agent: step.agent.clone(), text: last, calls: Vec::new() };
    notes.chain([last]).collect()
}
