//! How far a subtask is: what became of its step, and of the run around it.

use super::{CallState, Run, Step, StepEnd};

/// Each has come to an end once the run has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    Pending,
    Running,
    /// A person must speak before it goes on.
    Waiting,
    Completed,
    Skipped,
    Failed,
    /// The run ended while it was at work.
    Cancelled,
    /// The run ended, and it never began.
    NotRun,
}

impl Run {
    /// How far a subtask of this planning phase is.
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
