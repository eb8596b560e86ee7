//! `idea_generation`: a phase in which one agent proposes ideas and another agent judges them. The number of turns is
//! fixed (contract A11).

use serde_json::{Value, json};

use super::super::draft::Draft;
use super::super::{Entry, Run, Step, StepEnd, StepRole};
use super::review;
use crate::definition::IdeaGeneration;

pub(super) fn maker(phase: &str) -> String {
    format!("{phase}/make")
}

impl Draft<'_> {
    pub(super) fn advance_ideas(&mut self, phase: &str, ideas: &IdeaGeneration) -> bool {
        let maker = maker(phase);
        match self.run.steps.get(&maker).map(|step| step.end) {
            None => self.start_step(phase, &maker, &ideas.maker, StepRole::Maker),
            Some(None) => return false,
            Some(Some(end)) => self.end_phase(phase, end),
        }
        true
    }

    pub(in super::super) fn ideas_made(&mut self, id: &str, step: &Step) -> bool {
        let ideas = self.run.phase(&step.phase).and_then(|phase| phase.kind.ideas().cloned());
        if let Some(more) = ideas.and_then(|ideas| self.judged(id, &ideas.critic, ideas.reviews)) {
            return more;
        }
        let text = self.run.final_word(step).unwrap_or_default();
        self.close_step(id, StepEnd::Completed, &text);
        true
    }
}

impl Run {
    /// Returns the result of a phase that proposes ideas as `{text, ideas, reviews, selected_idea}`: the final text,
    /// each reply of the maker, the judgements of the critic, and the selected idea. The selected idea is the complete
    /// final text, in which the best idea comes first according to the maker's instructions.
    pub(super) fn ideas(&self, phase: &str) -> Option<Value> {
        let step = self.steps.get(&maker(phase))?;
        let text = step.output.as_deref()?;
        let made = step.entries.iter().filter_map(|entry| match entry {
            Entry::Turn { text, calls, .. } => self.word_of(text, calls),
            Entry::Note { .. } => None,
        });
        let reviews = (1..=step.judged).filter_map(|n| self.steps.get(&review(phase, n))?.output.as_deref());
        Some(json!({
            "text": text,
            "ideas": made.collect::<Vec<_>>(),
            "reviews": reviews.collect::<Vec<_>>(),
            "selected_idea": text,
        }))
    }
}
