//! `control`: a phase that carries out a plan. Each subtask of the plan is a step, and independent subtasks run in
//! parallel (contracts A10, A14, E12).

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::draft::Draft;
use super::super::{Fact, Run, Step, StepEnd, StepRole, step_ids};
use crate::definition::{Control, Phase};
use crate::envelope::Content;
use crate::limits;
use crate::plan::{Plan, Subtask};

/// Result of checking if a subtask of the plan can start.
enum Turn<'p> {
    Now,
    NotYet,
    /// The subtask cannot start, because a subtask that it depends on has failed, or did not run because of an earlier
    /// failure. The value is the id of that subtask.
    Never(&'p str),
}

impl Draft<'_> {
    pub(super) fn advance_control(&mut self, phase: &Phase, control: &Control) -> bool {
        let planned = self.run.plans.get(&control.plan);
        let held = planned.is_some_and(|plan| plan.held);
        let Some(plan) = planned.and_then(|plan| plan.settled()).cloned() else {
            self.end_phase(&phase.id, StepEnd::Skipped);
            return true;
        };
        if chosen(&plan, control).next().is_none() {
            let only = control.only.unwrap_or_default();
            self.fail_run(
                "no_subtask",
                format!(
                    "phase `{}` carries out subtask number {only}, but the plan has fewer subtasks",
                    phase.id
                ),
            );
            return true;
        }
        let at_work = self.run.at_work(phase);
        for subtask in chosen(&plan, control).filter(|_| !held) {
            let step = step_ids::carrying_out(phase, &subtask.id);
            if self.run.steps.contains_key(&step) {
                continue;
            }
            let agent = subtask.agent.as_ref().unwrap_or(&control.agent);
            match self.run.turn(phase, &plan, subtask) {
                Turn::Now if at_work < phase.limits.parallel as usize => {
                    self.start_step(&phase.id, &step, agent, StepRole::Subtask);
                    return true;
                }
                Turn::Now | Turn::NotYet => {}
                Turn::Never(lost) => {
                    let skipped = self.run.subtask_step(phase, lost).map(|step| step.end)
                        == Some(Some(StepEnd::Skipped));
                    let became = if skipped { "was skipped" } else { "failed" };
                    let text = format!("not run: `{lost}` {became}");
                    self.skip_subtask(phase, step, agent, text);
                    return true;
                }
            }
        }
        let mut steps = chosen(&plan, control).map(|subtask| self.run.subtask_step(phase, &subtask.id));
        let all_ended = steps.all(|step| step.is_some_and(|step| step.end.is_some()));
        // A person may have removed subtasks from the plan. The steps of the removed subtasks must also end.
        if held || !all_ended || at_work > 0 {
            return false;
        }
        let failed = self.run.steps_of(phase).any(|step| step.end == Some(StepEnd::Failed));
        self.end_phase(&phase.id, if failed { StepEnd::Failed } else { StepEnd::Completed });
        true
    }

    fn skip_subtask(&mut self, phase: &Phase, step: String, agent: &str, text: String) {
        let started = Fact::StepStarted {
            step: step.clone(),
            phase: phase.id.clone(),
            agent: agent.to_owned(),
            role: StepRole::Subtask,
            subtask: self.run.part_to_carry_out(&phase.id, &step),
        };
        self.emit(started, Content::none());
        self.emit(Fact::StepEnded { step, end: StepEnd::Skipped }, Content::text(text));
    }
}

/// Returns the subtasks of the plan that a phase carries out, in the order in which the plan lists them.
fn chosen<'p>(plan: &'p Plan, control: &Control) -> impl Iterator<Item = &'p Subtask> {
    let only = control.only;
    (1..)
        .zip(&plan.subtasks)
        .filter(move |(n, _)| only.is_none_or(|only| only == *n))
        .map(|(_, subtask)| subtask)
}

/// Returns true if the phase carries out only one subtask of the plan and `id` is a different subtask.
fn is_left_out(phase: &Phase, plan: &Plan, id: &str) -> bool {
    let control = phase.kind.control().filter(|control| control.only.is_some());
    control.is_some_and(|control| !chosen(plan, control).any(|subtask| subtask.id == id))
}

impl Run {
    pub(in super::super) fn subtask_step(&self, phase: &Phase, subtask: &str) -> Option<&Step> {
        self.step_with_id(phase, subtask).map(|(_, step)| step)
    }

    pub(super) fn step_with_id(&self, phase: &Phase, subtask: &str) -> Option<(&str, &Step)> {
        self.steps
            .get_key_value(&step_ids::carrying_out(phase, subtask))
            .map(|(id, step)| (id.as_str(), &**step))
    }

    /// Returns the step that carries out a subtask from the plan of the phase `planning`, and the id of the step.
    pub fn step_of_subtask(&self, planning: &str, subtask: &str) -> Option<(&str, &Step)> {
        self.all_phases().find_map(|phase| {
            phase.kind.control().filter(|control| control.plan == planning)?;
            self.step_with_id(phase, subtask)
        })
    }

    fn steps_of<'a>(&'a self, phase: &'a Phase) -> impl Iterator<Item = &'a Step> {
        let own = |step: &&Step| step.phase == phase.id && !step.role.is_aside();
        self.steps.values().filter(own)
    }

    fn at_work(&self, phase: &Phase) -> usize {
        let own = |step: &Step| step.phase == phase.id && !step.role.is_aside();
        self.steps.open().filter(|(_, step)| own(step)).count()
    }

    fn turn<'p>(&self, phase: &Phase, plan: &'p Plan, subtask: &'p Subtask) -> Turn<'p> {
        if let Some(lost) = subtask.depends_on.iter().find(|need| self.is_lost(phase, plan, need)) {
            return Turn::Never(lost);
        }
        // If a person skipped a subtask, or if the phase leaves the subtask out, it does not block the subtasks that
        // need it.
        let is_done = |need: &String| match self.subtask_step(phase, need) {
            Some(step) => step.end.is_some(),
            None => plan.subtask(need).is_none() || is_left_out(phase, plan, need),
        };
        if subtask.depends_on.iter().all(is_done) { Turn::Now } else { Turn::NotYet }
    }

    /// Returns true if a subtask of the plan failed, or did not run because a subtask that it needs failed.
    fn is_lost(&self, phase: &Phase, plan: &Plan, id: &str) -> bool {
        let (mut seen, mut next) = (BTreeSet::from([id]), vec![id]);
        while let Some(id) = next.pop() {
            match self.subtask_step(phase, id).and_then(|step| step.end) {
                Some(StepEnd::Failed) => return true,
                Some(StepEnd::Skipped) => {
                    let needs = plan.subtask(id).into_iter().flat_map(|subtask| &subtask.depends_on);
                    next.extend(needs.map(String::as_str).filter(|need| seen.insert(*need)));
                }
                Some(StepEnd::Completed) | None => {}
            }
        }
        false
    }

    /// Returns the outcomes of the subtasks that a phase carries out, as `{ID: {status, agent, output, attempts,
    /// redos}}`.
    pub(super) fn carried_out(&self, phase: &Phase, control: &Control) -> Value {
        let steps = self.settled(control).into_iter().flat_map(|plan| chosen(plan, control));
        let told = steps.filter_map(|subtask| {
            let step = self.subtask_step(phase, &subtask.id)?;
            // The text of a skipped step is the person's reason for the skip, not an output.
            let output = step.output.as_ref().filter(|_| step.end != Some(StepEnd::Skipped));
            let told = json!({
                "status": step.end,
                "agent": step.agent,
                "output": output,
                "attempts": step.attempts(),
                "redos": step.redos,
            });
            Some((subtask.id.clone(), told))
        });
        told.collect::<serde_json::Map<_, _>>().into()
    }

    /// Returns the output of the subtask of a phase that completed last. If no subtask completed, returns the outcomes
    /// of all subtasks as text.
    pub(super) fn last_word(&self, phase: &Phase, control: &Control) -> Option<String> {
        let plan = self.settled(control)?;
        let done = chosen(plan, control).filter_map(|subtask| self.subtask_step(phase, &subtask.id));
        let done = done.filter(|step| step.end == Some(StepEnd::Completed) && step.output.is_some());
        match done.max_by_key(|step| step.until) {
            Some(last) => last.output.as_deref().map(str::to_owned),
            None => Some(self.results_text(phase, control, None)),
        }
    }

    /// Returns the results of subtasks as text for later agents (contract A10). The latest results, and the results on
    /// which the reading subtask depends, are complete. Older results are cut. A subtask gets only the results that
    /// existed when the subtask started.
    pub(in super::super) fn results_text(
        &self,
        phase: &Phase,
        control: &Control,
        reader: Option<(&Step, &str)>,
    ) -> String {
        let Some(plan) = self.settled(control) else { return String::new() };
        let before = |until: u64| reader.is_none_or(|(step, _)| until < step.since);
        let mut done: Vec<(u64, &str, &Step)> = chosen(plan, control)
            .filter_map(|subtask| {
                let step = self.subtask_step(phase, &subtask.id)?;
                Some((step.until.filter(|until| before(*until))?, subtask.id.as_str(), step))
            })
            .collect();
        done.sort_unstable_by_key(|(until, ..)| *until);
        let needs = reader.and_then(|(_, id)| plan.subtask(id)).map(|subtask| subtask.depends_on.as_slice());
        let needed = |id: &str| needs.unwrap_or_default().iter().any(|need| need == id);
        let old = done.len().saturating_sub(limits::WHOLE_RESULTS);
        let mut parts: Vec<String> = Vec::new();
        let mut room = limits::RESULTS_CHARS;
        for (i, (_, id, step)) in done.iter().enumerate().rev() {
            let output = step.output.as_deref().unwrap_or_default();
            let keep = if i < old && !needed(id) { limits::OLD_RESULT_CHARS } else { room };
            let cut = cut(output, keep.min(room));
            room -= cut.chars().count().min(room);
            let status = match step.end {
                Some(StepEnd::Completed) => "",
                Some(StepEnd::Skipped) => " (skipped)",
                Some(StepEnd::Failed) | None => " (failed)",
            };
            parts.push(format!("`{id}`{status}: {cut}"));
        }
        parts.reverse();
        parts.join("\n\n")
    }
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
