//! Task of a step as text: the run's task, the text of the phase, earlier results, and the work of this step.

use super::{Run, Step, StepEnd, StepRole};
use crate::definition::{IdeaGeneration, Phase};

impl Run {
    pub(super) fn task_of(&self, id: &str) -> String {
        let Some(step) = self.steps.get(id) else { return String::new() };
        let Some(phase) = self.phase(&step.phase) else { return String::new() };
        match step.role {
            StepRole::Worker if step.round.is_some() => self.round_task(phase, step),
            StepRole::Worker => match &step.input {
                Some(input) => input.to_string(),
                None => self.background(phase),
            },
            StepRole::Improver => format!(
                "{}\n\nSay this task better: complete, precise, without changing what is asked. Answer with the \
                 task alone.",
                self.background(phase)
            ),
            StepRole::Planner if phase.kind.planning().is_some_and(|planning| planning.optional) => {
                self.improved(phase)
            }
            StepRole::Planner => format!("{}\n\n{}", self.improved(phase), self.plan_form(&phase.id)),
            StepRole::Maker => format!("{}{}", self.background(phase), ideas_wanted(phase)),
            StepRole::Judge => self.to_judge(phase),
            StepRole::Overseer => self.overseer_task(id),
            StepRole::Router => self.wanted_task(&phase.id),
            StepRole::Summariser => self.summariser_task(id),
            StepRole::Subtask => {
                let subtask = step.subtask.as_deref().unwrap_or_default();
                let before = self.part_of(phase, step, subtask);
                format!("{before}\n\nYour part of it, `{subtask}`:\n{}", self.work_of(id))
            }
        }
    }

    /// Returns the part of the run's task that the step `id` must do. A person can replace the returned text before the
    /// step starts.
    pub(super) fn work_of(&self, id: &str) -> String {
        let Some(step) = self.steps.get(id) else { return String::new() };
        match (step.role, &step.input) {
            (StepRole::Subtask, Some(input)) => input.to_string(),
            (StepRole::Subtask, None) => {
                self.part(id).map(|part| part.subtask.description.clone()).unwrap_or_default()
            }
            (
                StepRole::Worker
                | StepRole::Improver
                | StepRole::Planner
                | StepRole::Maker
                | StepRole::Judge
                | StepRole::Overseer
                | StepRole::Router
                | StepRole::Summariser,
                _,
            ) => self.task_of(id),
        }
    }

    /// Returns the run's task, the text of the phase, and the results of earlier phases that the phase needs.
    pub(super) fn background(&self, phase: &Phase) -> String {
        let mut text = self.earlier.as_deref().unwrap_or_default().to_owned();
        // If a call begins the phase, the text of the call is the task.
        let is_called =
            self.called.contains_key(&phase.id) && phase.input.as_ref().is_some_and(|it| !it.is_empty());
        if is_called {
            text.clear();
        } else {
            text.push_str(&self.task());
        }
        self.add_words(&mut text, phase);
        text.trim_start().to_owned()
    }

    fn add_words(&self, text: &mut String, phase: &Phase) {
        if let Some(input) = &phase.input {
            text.push_str("\n\n");
            text.push_str(input.trim_end());
        }
        for need in &phase.needs {
            if let Some(told) = self.phase(need).and_then(|need| self.phase_result_text(need)) {
                text.extend(["\n\nResult of `", need, "`:\n", &told]);
            }
        }
    }

    /// Returns the run's task in the words of the agent that rewords tasks. If no agent reworded the task, returns the
    /// original task. Adds the texts of the phase.
    fn improved(&self, phase: &Phase) -> String {
        let step = self.steps.get(&super::phase::improver(&phase.id));
        let done = step.filter(|step| step.end == Some(StepEnd::Completed));
        let improved = done.and_then(|step| step.output.as_deref());
        match improved.filter(|text| !text.trim().is_empty()) {
            Some(text) => {
                let mut text = text.to_owned();
                self.add_words(&mut text, phase);
                text
            }
            None => self.background(phase),
        }
    }

    /// Returns the task text for the judging agent of the phase, with the text to judge, such as a plan.
    fn to_judge(&self, phase: &Phase) -> String {
        let judged = self
            .steps
            .values()
            .find(|step| step.phase == phase.id && matches!(step.role, StepRole::Planner | StepRole::Maker));
        let written = match self.plans.get(&phase.id).and_then(|plan| plan.versions.last()) {
            Some(plan) => plan.text(),
            None => judged
                .and_then(|step| {
                    self.final_word(step).or_else(|| self.last_turn(step).map(|(text, _)| text.to_owned()))
                })
                .unwrap_or_default(),
        };
        format!(
            "{}\n\nJudge this (`review_{}`), and say what to change:\n{written}",
            self.improved(phase),
            judged.map_or(0, |step| step.judged) + 1
        )
    }

    /// Returns the task text of a step that carries out a subtask: the run's task, the plan, the results so far, and
    /// the subtask.
    fn part_of(&self, phase: &Phase, step: &Step, subtask: &str) -> String {
        let Some(control) = phase.kind.control() else { return String::new() };
        let mut text = self.background(phase);
        if !phase.needs.contains(&control.plan)
            && let Some(plan) = self.phase(&control.plan).and_then(|plan| self.phase_result_text(plan))
        {
            text.extend(["\n\nThe plan:\n", &plan]);
        }
        let results = self.results_text(phase, control, Some((step, subtask)));
        if !results.is_empty() {
            text.extend(["\n\nDone so far:\n", &results]);
        }
        text
    }
}

fn ideas_wanted(phase: &Phase) -> String {
    let Some(IdeaGeneration { ideas, .. }) = phase.kind.ideas() else { return String::new() };
    format!("\n\nGive {ideas} ideas, the best one first, and say why it is the best.")
}
