//! What of a front run's events is said in the conversation: people's words, agents' questions and answers.
//!
//! The session's stream gets a pointer to each; the words stay where they are.

use serde_json::Value;

use super::{Fact, Run, StepEnd, StepRole};
use crate::envelope::Content;
use crate::event::{self, Event};
use crate::id::InterruptId;
use crate::interrupt::{About, Kind};
use crate::session;
use crate::text::readable;

/// Who said something, and about what.
struct Words {
    /// `None`: a person, the event's actor.
    agent: Option<String>,
    /// What it asks or answers.
    interrupt: Option<InterruptId>,
}

impl Run {
    /// The session's note of the event that was applied last; `None` where nothing was said to anybody in it.
    pub(super) fn said(&self, fact: &Fact, content: &Content) -> Option<session::Fact> {
        if !self.is_front() {
            return None;
        }
        let Words { agent, interrupt } = self.words(fact, content)?;
        Some(session::Fact::Said { run: self.id.clone(), seq: self.seq, agent, interrupt })
    }

    fn words(&self, fact: &Fact, content: &Content) -> Option<Words> {
        let has_text = !content.as_text().trim().is_empty();
        match fact {
            Fact::RunStarted { .. } | Fact::MessageAdded => Some(Words { agent: None, interrupt: None }),
            Fact::InterruptOpened(opened) if opened.kind == Kind::Question => {
                Some(Words { agent: opened.agent.clone(), interrupt: Some(opened.interrupt.clone()) })
            }
            Fact::DecisionMade { interrupt, implied: false, .. } => {
                let asked = self.interrupts.get(interrupt)?;
                let is_word = match asked.opened.kind {
                    Kind::Question => has_text || !content.data.is_null(),
                    // What a client brings is no person's word.
                    Kind::ClientCall | Kind::UnknownOutcome => false,
                    // The message that it becomes is the word.
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
                is_word.then(|| Words { agent: None, interrupt: Some(interrupt.clone()) })
            }
            // What was said before a person interrupted was said all the same.
            Fact::StepEnded { step, end: StepEnd::Completed } | Fact::ModelStopped { step, .. }
                if has_text =>
            {
                let is_end = matches!(fact, Fact::StepEnded { .. });
                let step = self.steps.get(step)?;
                if is_end && Self::ends_with_what_was_cut(step, content.as_text()) {
                    return None;
                }
                // Of a plan that is carried out each part answers the plan, not the person.
                let planned = self.plans.get(&step.phase).is_some_and(|plan| plan.settled.is_some());
                let answers = matches!(step.role, StepRole::Worker | StepRole::Planner) && !planned;
                answers.then(|| Words { agent: Some(step.agent.clone()), interrupt: None })
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
            | Fact::NoteAdded { .. } => None,
        }
    }
}

/// The words of an event that is noted as said; `None` where they were erased.
pub fn words(event: &Event) -> Option<String> {
    let Content { text, data } = &event.content;
    let of = |value: Option<&Value>| value.filter(|value| !value.is_null()).map(readable);
    match &event.fact {
        event::Fact::Run(Fact::RunStarted { .. }) => of(data.get("task").or(Some(data))),
        event::Fact::Run(Fact::InterruptOpened(_)) => {
            of(data.pointer("/payload/question").or(data.get("title")))
        }
        // An answer in a form is data; all others are texts.
        event::Fact::Run(_) => text.clone().or_else(|| of(Some(data))),
        event::Fact::Session(_) | event::Fact::System(_) => None,
    }
}
