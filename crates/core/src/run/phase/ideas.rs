//! `idea_generation`: one agent has ideas, another one judges them, so often (contract A11).

use super::super::draft::Draft;
use super::super::{Role, Step, StepEnd};
use crate::definition::IdeaGeneration;

pub(super) fn maker(phase: &str) -> String {
    format!("{phase}/make")
}

impl Draft<'_> {
    pub(super) fn advance_ideas(&mut self, phase: &str, ideas: &IdeaGeneration) -> bool {
        let maker = maker(phase);
        match self.run.steps.get(&maker).map(|step| step.end) {
            None => self.start_step(phase, &maker, &ideas.maker, Role::Maker),
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
