//! Progress of a subtask. Progress is computed from the subtask's step and from the run.

use super::{CallState, Run, Step, StepEnd};

/// Progress of a subtask of a plan. The progress no longer changes after the run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Pending,
    Running,
    /// The subtask of the plan waits for a person's decision.
    Waiting,
    Completed,
    Skipped,
    Failed,
    /// The run ended while the subtask was running.
    Cancelled,
    /// The run ended before the subtask began.
    NotRun,
}

impl Run {
    /// Returns the progress of a subtask from the plan of this planning phase.
    pub fn progress(&self, planning: &str, subtask: &str) -> Progress {
        let is_over = self.ended.is_some();
        match self.step_of_subtask(planning, subtask) {
            None if is_over => Progress::NotRun,
            None => Progress::Pending,
            Some((id, step)) => match step.end {
                Some(StepEnd::Completed) => Progress::Completed,
                Some(StepEnd::Skipped) => Progress::Skipped,
                Some(StepEnd::Failed) => Progress::Failed,
                None if is_over => Progress::Cancelled,
                None if self.waits_for_a_person(id, step) => Progress::Waiting,
                None => Progress::Running,
            },
        }
    }

    fn waits_for_a_person(&self, id: &str, step: &Step) -> bool {
        let waits = |state: &CallState| matches!(state, CallState::Gated(_) | CallState::Doubted(Some(_)));
        self.interrupted.is_some()
            || step.blocked.is_some()
            || self.calls.open().any(|(_, call)| call.step == id && waits(&call.state))
    }
}
