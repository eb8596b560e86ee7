//! Labels changes on a card as *outside the task*, if the task does not mention the changed paths.
//!
//! The labels are computed when the card is made, from the task of the step and the messages of people. A label has no
//! influence on votes and approvals. The module [`mentioned_paths`] decides if a text mentions a path.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::state::{CallChanges, Entry};
use super::{Call, CallEnd, CallState, Run, Step, StepRole};
use crate::changeset::{self, Change};
use crate::mentioned_paths;

impl Run {
    /// Labels the changed paths that the task does not mention, in the payload of a tool call's approval card. For the
    /// changes of a trial, also adds the number of these paths.
    pub(super) fn mark_outside(&self, call: &Call, payload: &mut Value) {
        if self.is_worked_out(call) {
            return;
        }
        match (call.found(), call.proposal.as_deref()) {
            (Some(found), _) => self.mark_tried(call, found, &mut payload["trial"]),
            (None, Some(proposed)) => {
                if !self.outside(call, proposed, |_| false).is_empty() {
                    payload["outside"] = json!(true);
                }
            }
            (None, None) => {}
        }
    }

    fn mark_tried(&self, call: &Call, found: &CallChanges, trial: &mut Value) {
        let listed = trial.get_mut("changes").and_then(Value::as_array_mut);
        let of = |change: &Value| change["path"].as_str().map(str::to_owned);
        let paths: BTreeSet<String> = listed.iter().flat_map(|all| all.iter()).filter_map(of).collect();
        let outside = self.outside(call, found, |path| paths.contains(path));
        for change in listed.into_iter().flatten() {
            if change["path"].as_str().is_some_and(|path| outside.contains(path)) {
                change["outside"] = json!(true);
            }
        }
        if !outside.is_empty() {
            trial["outside"] = json!(outside.len());
        }
    }

    /// Returns the paths changed by a tool call that the task does not mention. Leaves out files that git ignores,
    /// because tasks do not mention such files. For the same reason, git's internal files are included only if the
    /// approval card lists them.
    fn outside<'f>(
        &self,
        call: &Call,
        found: &'f CallChanges,
        is_listed: impl Fn(&str) -> bool,
    ) -> BTreeSet<&'f str> {
        let changes = found.changeset.as_deref().unwrap_or(&changeset::EMPTY);
        let may_be_named = |change: &&Change| {
            !change.ignored && (!changeset::is_of_git(&change.path) || is_listed(&change.path))
        };
        let paths = changes.counted().filter(may_be_named).map(|change| change.path.as_str());
        let texts = self.steps.get(&call.step).map(|step| self.words_of_task(step)).unwrap_or_default();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let workspace = call.look.as_ref().map_or("", |look| look.workspace.as_str());
        mentioned_paths::outside(&texts, workspace, paths)
    }

    /// Returns the texts that describe the task of a step: texts by people, and the subtasks of the approved plan.
    /// Leaves out texts of agents.
    fn words_of_task(&self, step: &Step) -> Vec<String> {
        let mut texts = vec![self.task().into_owned()];
        let is_called = self.called.contains_key(&step.phase);
        texts.extend(self.phase(&step.phase).and_then(|phase| phase.input.clone()).filter(|_| !is_called));
        texts.extend(step.input.as_deref().map(str::to_owned));
        texts.extend(step.subtask.as_ref().and_then(|id| self.subtask_of(step, id)));
        let rounds = self.rounds_of(&step.phase);
        let is_of_round = |n: &u32| step.round.is_some_and(|own| *n <= own);
        for brief in rounds.briefs.iter().filter(|(n, _)| is_of_round(n)).map(|(_, brief)| brief) {
            texts.extend(brief.said.iter().chain(&brief.beside).map(ToString::to_string));
        }
        let is_a_word = |text: &&std::sync::Arc<str>| !self.is_of_an_undo(text);
        texts.extend(self.messages.iter().filter(is_a_word).map(ToString::to_string));
        // Steps of all other roles may have notes that contain judgements of agents.
        if matches!(step.role, StepRole::Worker | StepRole::Subtask) {
            for entry in &step.entries {
                match entry {
                    Entry::Note { text } => {
                        texts.extend(Some(text).filter(is_a_word).map(ToString::to_string));
                    }
                    Entry::Turn { calls, .. } => {
                        texts.extend(calls.iter().filter_map(|id| self.answer_to(id)));
                        texts.extend(calls.iter().flat_map(|id| self.planned_by(id)));
                    }
                }
            }
        }
        texts
    }

    /// Returns the subtasks of the approved plans in those phases that the tool call `call` began.
    fn planned_by(&self, call: &str) -> Vec<String> {
        let begun = self.called.iter().filter(|(_, called)| called.call == call).map(|(phase, _)| phase);
        let plans = begun.filter_map(|phase| self.plans.get(phase)?.settled());
        plans.flat_map(|plan| plan.subtasks.iter().map(|subtask| subtask.description.clone())).collect()
    }

    fn subtask_of(&self, step: &Step, id: &str) -> Option<String> {
        let planning = &self.phase(&step.phase)?.kind.control()?.plan;
        let plan = self.plans.get(planning)?.settled()?;
        plan.subtasks.iter().find(|subtask| subtask.id == id).map(|subtask| subtask.description.clone())
    }

    /// Returns the text that a person wrote in place of the result of a tool call. `None` if no person wrote the
    /// result.
    fn answer_to(&self, id: &str) -> Option<String> {
        let call = self.calls.get(id)?;
        let is_answer = call.state == CallState::Ended(CallEnd::Answered);
        call.result.as_ref().filter(|_| is_answer).map(ToString::to_string)
    }
}
