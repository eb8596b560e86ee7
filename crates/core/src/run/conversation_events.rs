//! Events of a run that belong to a conversation: messages and answers of people, and replies and questions of agents.
//!
//! For each of these events, the stream of the session stores a pointer. The texts are stored only in the run's stream.

use serde_json::Value;

use super::{Fact, Run, StepEnd, StepRole};
use crate::envelope::Content;
use crate::event::{self, Event};
use crate::id::InterruptId;
use crate::interrupt::{About, Kind};
use crate::session;
use crate::text::readable;

/// Speaker of a text in a conversation, and the interrupt to which the text belongs.
struct UtteranceSource {
    /// Agent that speaks. `None` if a person speaks, who is the actor of the event.
    agent: Option<String>,
    /// Interrupt whose question the text asks or answers.
    interrupt: Option<InterruptId>,
}

impl Run {
    /// Returns the pointer to the run's last applied event, for the stream of the session. `None` if the event does not
    /// belong to the conversation.
    pub(super) fn conversation_fact(&self, fact: &Fact, content: &Content) -> Option<session::Fact> {
        if !self.is_front() {
            return None;
        }
        let UtteranceSource { agent, interrupt } = self.utterance_source(fact, content)?;
        Some(session::Fact::Said { run: self.id.clone(), seq: self.seq, agent, interrupt })
    }

    fn utterance_source(&self, fact: &Fact, content: &Content) -> Option<UtteranceSource> {
        let has_text = !content.as_text().trim().is_empty();
        match fact {
            Fact::RunStarted { .. } | Fact::MessageAdded => {
                Some(UtteranceSource { agent: None, interrupt: None })
            }
            Fact::InterruptOpened(opened) if opened.kind == Kind::Question => Some(UtteranceSource {
                agent: opened.agent.clone(),
                interrupt: Some(opened.interrupt.clone()),
            }),
            Fact::DecisionMade { interrupt, implied: false, .. } => {
                let asked = self.interrupts.get(interrupt)?;
                let is_word = match asked.opened.kind {
                    Kind::Question => has_text || !content.data.is_null(),
                    // A result from a client is not something that a person said.
                    Kind::ClientCall | Kind::UnknownOutcome => false,
                    // The decision also creates a message event, and that event holds the text.
                    Kind::Turn if asked.opened.about == About::Interruption => false,
                    Kind::ToolApproval
                    | Kind::PlanApproval
                    | Kind::Checkpoint
                    | Kind::Error
                    | Kind::Choice
                    | Kind::Turn
                    | Kind::Escalation
                    | Kind::Review
                    | Kind::Continuation => has_text,
                };
                is_word.then(|| UtteranceSource { agent: None, interrupt: Some(interrupt.clone()) })
            }
            // A reply that an interruption cut off is also part of the conversation.
            Fact::StepEnded { step, end: StepEnd::Completed } | Fact::ModelStopped { step, .. }
                if has_text =>
            {
                let is_end = matches!(fact, Fact::StepEnded { .. });
                let step = self.steps.get(step)?;
                if is_end && Self::ends_with_what_was_cut(step, content.as_text()) {
                    return None;
                }
                // Steps that carry out a plan report on the plan; they do not reply to the person.
                let planned = self.plans.get(&step.phase).is_some_and(|plan| plan.settled.is_some());
                let answers = matches!(step.role, StepRole::Worker | StepRole::Planner) && !planned;
                answers.then(|| UtteranceSource { agent: Some(step.agent.clone()), interrupt: None })
            }
            Fact::Adopted { .. }
            | Fact::RunPaused
            | Fact::RunResumed
            | Fact::RunInterrupted
            | Fact::RunSuspended
            | Fact::RunUnsuspended
            | Fact::RunCompleted { .. }
            | Fact::RunFailed { .. }
            | Fact::RunCancelled { .. }
            | Fact::PhaseStarted { .. }
            | Fact::PhaseCalled { .. }
            | Fact::PhaseEnded { .. }
            | Fact::StepStarted { .. }
            | Fact::StepWithdrawn { .. }
            | Fact::StepClosed { .. }
            | Fact::StepEnded { .. }
            | Fact::StepRedone { .. }
            | Fact::StepRetried { .. }
            | Fact::StepInputReplaced { .. }
            | Fact::LimitReached { .. }
            | Fact::LimitLifted { .. }
            | Fact::ModelStarted { .. }
            | Fact::ModelReplied { .. }
            | Fact::EndRefused { .. }
            | Fact::ModelFailed { .. }
            | Fact::ModelLost { .. }
            | Fact::ModelStopped { .. }
            | Fact::ReplyResumed { .. }
            | Fact::WindowNarrowed { .. }
            | Fact::HistorySummarised { .. }
            | Fact::HistoryElided { .. }
            | Fact::ToolInspected { .. }
            | Fact::CallMade { .. }
            | Fact::ChangesProposed { .. }
            | Fact::TrialStarted { .. }
            | Fact::TrialLost { .. }
            | Fact::ToolTried { .. }
            | Fact::ChangesKept { .. }
            | Fact::TrialImpossible { .. }
            | Fact::CallJudged { .. }
            | Fact::JudgementUnusable { .. }
            | Fact::ToolDeferred { .. }
            | Fact::ToolAuthorised { .. }
            | Fact::ToolStarted { .. }
            | Fact::ToolFinished { .. }
            | Fact::ToolReturned { .. }
            | Fact::ToolLost { .. }
            | Fact::ToolStopped { .. }
            | Fact::ToolDoubted { .. }
            | Fact::HandedOver { .. }
            | Fact::PlanProposed { .. }
            | Fact::PlanDrafted { .. }
            | Fact::PlanUnusable { .. }
            | Fact::PlanSettled { .. }
            | Fact::PlanDropped { .. }
            | Fact::StepJudged { .. }
            | Fact::TaskRouted { .. }
            | Fact::TaskExtended { .. }
            | Fact::RoundWanted { .. }
            | Fact::RoundsOver { .. }
            | Fact::ResultHeld { .. }
            | Fact::OutputReleased { .. }
            | Fact::InterruptOpened(_)
            | Fact::DecisionMade { .. }
            | Fact::InterruptResolved { .. }
            | Fact::InterruptClaimed { .. }
            | Fact::InterruptReleased { .. }
            | Fact::ChangesUndone { .. }
            | Fact::CommentAdded { .. }
            | Fact::InterruptViewed { .. }
            | Fact::VoteWithdrawn { .. }
            | Fact::InterruptReassigned { .. }
            | Fact::InterruptDelegated { .. }
            | Fact::InterruptTimed { .. }
            | Fact::InterruptReminded { .. }
            | Fact::InterruptEscalated { .. }
            | Fact::InterruptSnoozed { .. }
            | Fact::AnswerCorrected { .. }
            | Fact::AnswerErased { .. }
            | Fact::ContentErased { .. }
            | Fact::LegalHoldPlaced
            | Fact::LegalHoldLifted
            | Fact::ApprovalUsed { .. }
            | Fact::ExecReported { .. }
            | Fact::NoteAdded { .. } => None,
        }
    }
}

/// Returns the text of a run's event that belongs to the conversation. `None` if the text was erased.
pub fn conversation_text(event: &Event) -> Option<String> {
    let Content { text, data } = &event.content;
    let of = |value: Option<&Value>| value.filter(|value| !value.is_null()).map(readable);
    match &event.fact {
        event::Fact::Run(Fact::RunStarted { .. }) => of(data.get("task").or(Some(data))),
        event::Fact::Run(Fact::InterruptOpened(_)) => {
            of(data.pointer("/payload/question").or(data.get("title")))
        }
        // An answer to a form is data. All other answers are text.
        event::Fact::Run(_) => text.clone().or_else(|| of(Some(data))),
        event::Fact::Session(_) | event::Fact::System(_) => None,
    }
}
